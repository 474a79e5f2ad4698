import type { Database } from "@coffer/postgres";
import { generateSigningKey } from "@coffer/tokens";
import { newServerSetup } from "../accounts/opaque.ts";
import { deleteSigningKeys, insertOpaqueSetup, insertSigningKey, lockServerKeys } from "../store/server-keys.ts";

/** The keys that can be replaced. */
export type RotatingKey = "signing-key" | "opaque-setup";

/**
 * Makes a new key beside the present one. Replicas use it once it has settled; what belongs to the old one stays good,
 * and the old one goes when nothing needs it any more.
 */
export async function rotateKey(database: Database, key: RotatingKey, now: Date): Promise<void> {
  const fresh = await generateSigningKey();
  await database.transaction(async (tx) => {
    await lockServerKeys(tx);
    if (key === "signing-key") await insertSigningKey(tx, { ...fresh, now });
    else await insertOpaqueSetup(tx, newServerSetup(), now);
  });
}

/**
 * Puts a new signing key in the place of all others, because one of them has leaked: it is used at once, and what the
 * others have signed is refused.
 */
export async function withdrawSigningKeys(database: Database, now: Date): Promise<void> {
  const fresh = await generateSigningKey();
  await database.transaction(async (tx) => {
    await lockServerKeys(tx);
    await deleteSigningKeys(tx);
    await insertSigningKey(tx, { ...fresh, now });
  });
}
