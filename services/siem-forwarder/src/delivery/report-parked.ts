import { inChain } from "../audit/in-chain.ts";
import type { Deps } from "../deps.ts";
import { takeParked } from "../store/deliveries.ts";
import { deliveryAudit } from "./delivery-audit.ts";

/** Parked records are reported this often for each endpoint. */
export const reportMilliseconds = 60 * 60 * 1_000;

/** Records how many records of an endpoint were parked since the last report, if one is due. */
export async function reportParked(
  deps: Pick<Deps, "database" | "newId" | "now">,
  { id, org_id: orgId }: { id: string; org_id: string },
): Promise<void> {
  const now = deps.now();
  const at = now.toISOString();
  const notSince = new Date(now.getTime() - reportMilliseconds).toISOString();
  await inChain(deps, orgId, async ({ tx, append }) => {
    const count = await takeParked(tx, { id, now: at, notSince });
    if (count === 0) return;
    const action = "siem.webhook.delivery.failed";
    await append(deliveryAudit(deps, { action, reason: "records_refused", count, orgId, endpointId: id, at }));
  });
}
