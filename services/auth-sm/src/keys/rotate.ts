import type { Database } from "@coffer/postgres";
import { generateSigningKey } from "@coffer/tokens";
import { newServerSetup } from "../accounts/opaque.ts";
import { insertOpaqueSetup, insertSigningKey, lockServerKeys } from "../store/server-keys.ts";

/** The keys that can be replaced. */
export const rotatingKeys = ["signing-key", "opaque-setup"] as const;
export type RotatingKey = (typeof rotatingKeys)[number];

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
