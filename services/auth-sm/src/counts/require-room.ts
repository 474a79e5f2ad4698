import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { quotaRefusals } from "@coffer/quota";
import type { Deps } from "../deps.ts";
import { type Counted, countLocked } from "../store/counts.ts";

// Far above what a team needs: a thousand services in five environments have 5,000 folders. They
// bound the lists, which have no pages by default.
const limits: Readonly<Record<Counted, { most: number; full: string }>> = {
  folders: { most: 5_000, full: "the organization has 5000 folders, its quota: delete some first" },
  applications: { most: 5_000, full: "the organization has 5000 applications, its quota: delete some first" },
  tokens: {
    most: 5_000,
    full: "the organization has 5000 unused one-time tokens, its quota: revoke some, or wait until they expire",
  },
  grants: { most: 1_000, full: "the machine has grants on 1000 folders, its quota: remove some first" },
  organizations: { most: 200, full: "you belong to 200 organizations, your quota: leave some first" },
};

/**
 * Refuses one more of what an owner has. Its count stays right until the transaction ends.
 * @throws ServiceError `quota_exceeded`
 */
export async function requireRoom(
  tx: Transaction,
  { now, telemetry }: Pick<Deps, "now" | "telemetry">,
  counted: Counted,
  owner: string,
): Promise<void> {
  const { most, full } = limits[counted];
  if ((await countLocked(tx, counted, owner, now())) < most) return;
  quotaRefusals(telemetry).inc({ kind: counted, limit: "items" });
  throw new ServiceError("quota_exceeded", full);
}
