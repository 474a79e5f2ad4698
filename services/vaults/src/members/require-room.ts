import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { quotaRefusals } from "@coffer/quota";
import type { Deps } from "../deps.ts";
import { countVaultsOf } from "../store/vaults/vault-members.ts";

/**
 * Far above what a person needs. Bounds the list, which devices read whole, also when colleagues share.
 */
const most = 5_000;

/**
 * Refuses one more vault of a person, whom the caller has locked until the transaction ends. `full` is the
 * message.
 * @throws ServiceError `quota_exceeded`
 */
export async function requireRoom(
  tx: Transaction,
  { telemetry }: Pick<Deps, "telemetry">,
  { userId, full }: { userId: string; full: (most: number) => string },
): Promise<void> {
  if ((await countVaultsOf(tx, userId)) < most) return;
  quotaRefusals(telemetry).inc({ kind: "vaults", limit: "items" });
  throw new ServiceError("quota_exceeded", full(most));
}
