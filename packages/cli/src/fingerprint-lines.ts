import { CofferError, fingerprintOf } from "@coffer/sdk";
import type { Fingerprint } from "@coffer/sdk";

/** The fingerprint of one's own key, as people compare it: in words and in hex. */
export function fingerprintLines({ words, hex }: Fingerprint): [words: string, hex: string] {
  return [`fingerprint: ${words}`, `fingerprint in hex: ${hex}`];
}

/** Things of a list, each with the fingerprint of the key that the service shows for it; null when that is no key. */
export function withFingerprints<T extends { public_key: string }>(
  things: readonly T[],
): Promise<(T & { fingerprint: Fingerprint | null })[]> {
  return Promise.all(
    things.map(async (thing) => ({ ...thing, fingerprint: await shownFingerprint(thing.public_key) })),
  );
}

async function shownFingerprint(publicKey: string): Promise<Fingerprint | null> {
  try {
    return await fingerprintOf(publicKey);
  } catch (error) {
    if (error instanceof CofferError) return null;
    throw error;
  }
}
