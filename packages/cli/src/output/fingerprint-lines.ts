import { CofferError, type Fingerprint, fingerprintOf } from "@coffer/sdk";

/** The fingerprint of one's own key in the forms that people compare: words and hex. */
export function fingerprintLines({ words, hex }: Fingerprint): [words: string, hex: string] {
  return [`fingerprint: ${words}`, `fingerprint in hex: ${hex}`];
}

/**
 * List items, each with the fingerprint of its key as the service shows it; null for a malformed
 * key.
 */
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
