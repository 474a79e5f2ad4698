import type { Database } from "@coffer/postgres";
import { generateSigningKey } from "@coffer/tokens";
import { newServerSetup } from "../accounts/opaque.ts";
import {
  deleteSigningKeys,
  insertOpaqueSetup,
  insertSigningKey,
  lockServerKeys,
} from "../store/accounts/server-keys.ts";

export type RotatingKey = "signing-key" | "opaque-setup";

/**
 * Adds a new key. Replicas use it once it is active. Values of the old key stay valid; a sweep
 * deletes the old key when nothing needs it.
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
 * Replaces all signing keys after a leak. The new key is used at once, and tokens of the old ones
 * are refused.
 */
export async function revokeSigningKeys(database: Database, now: Date): Promise<void> {
  const fresh = await generateSigningKey();
  await database.transaction(async (tx) => {
    await lockServerKeys(tx);
    await deleteSigningKeys(tx);
    await insertSigningKey(tx, { ...fresh, now });
  });
}
