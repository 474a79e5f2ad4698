import { inChain } from "../audit/in-chain.ts";
import { hourOf } from "../audit/hour-of.ts";
import type { Deps } from "../deps.ts";
import type { DeliveryState } from "../store/deliveries.ts";
import { findTooOld, skipTo } from "../store/deliveries.ts";
import { findSpan } from "../store/hours.ts";
import { deliveryAudit } from "./delivery-audit.ts";

/** Records older than this are dropped from the backlog of an endpoint. */
const backlogMilliseconds = 30 * 24 * 60 * 60 * 1_000;

/** The start of the backlog: older records are dropped. */
export function backlogStart(now: Date): string {
  return new Date(now.getTime() - backlogMilliseconds).toISOString();
}

/** Drops records of the backlog that are too old, and audits their count and time range. */
export async function skipOld(
  deps: Pick<Deps, "database" | "newId" | "now">,
  { id, org_id: orgId, position }: Pick<DeliveryState, "id" | "org_id" | "position">,
): Promise<void> {
  const now = deps.now();
  const since = backlogStart(now);
  await inChain(deps, orgId, async ({ tx, append }) => {
    const kept = await findSpan(tx, orgId, { fromHour: hourOf(since) });
    const old = await findTooOld(tx, { chainId: orgId, after: position, since, storedFrom: kept?.first ?? null });
    const { count, from, to, last } = old;
    if (last === null || from === null || to === null || !(await skipTo(tx, { id, from: position, to: last }))) return;
    await append(
      deliveryAudit(deps, {
        action: "audit.gap",
        reason: "backlog_too_old",
        count,
        changes: { from, to },
        orgId,
        endpointId: id,
        at: now.toISOString(),
      }),
    );
  });
}
