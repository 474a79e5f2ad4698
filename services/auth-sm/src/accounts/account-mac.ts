import type { KeyRing } from "../keys/key-ring.ts";
import { macOf } from "../keys/mac.ts";

/** The MAC of a canonical e-mail. Logins are counted by it, whether or not the account exists. */
export function accountOf(keys: KeyRing, email: string): Buffer {
  return macOf(keys.accountKey, "account", email);
}
