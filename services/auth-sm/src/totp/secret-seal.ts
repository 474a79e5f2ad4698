import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { openUnder, sealUnder } from "../keys/seal.ts";

const contextOf = (userId: string): string => `totp/${userId}`;

export function sealSecret(deps: Pick<Deps, "randomBytes">, keys: KeyRing, userId: string, secret: Buffer): Buffer {
  return sealUnder(keys.totpKey, secret, contextOf(userId), deps.randomBytes(12));
}

export function openSecret(keys: KeyRing, userId: string, sealed: Buffer): Buffer {
  return openUnder(keys.totpKey, sealed, contextOf(userId));
}
