import type { KeyRing } from "../keys/key-ring.ts";
import { macOf } from "../keys/mac.ts";

/** By what an account is counted, whether anybody has it or not: a MAC of its canonical e-mail. */
export function accountOf(keys: KeyRing, email: string): Buffer {
  return macOf(keys.accountKey, "account", email);
}
