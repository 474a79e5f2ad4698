import type { PublicKey } from "./key-ring.ts";
import type { ServerKeys } from "./server-keys.ts";

/**
 * The public key by its id, including one that another replica has just made; null when there is
 * none.
 */
export async function findPublicKey(keys: ServerKeys, kid: string): Promise<PublicKey | null> {
  const known = (await keys.present()).publicKeys.find((key) => key.kid === kid);
  return known ?? (await keys.latest()).publicKeys.find((key) => key.kid === kid) ?? null;
}
