import type { AuditDraft } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import { type Actor, type AuditEntry, auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";

export interface Switch {
  userId: string;
  enabled: boolean;
  actor: Actor;
  request: RequestContext;
}

/**
 * The audit records of a switch, one for each chain. vaults stores them with the mode, if the mode
 * changes.
 */
export function travelModeRecords(
  deps: Pick<Deps, "newId">,
  { userId, enabled, actor, request }: Switch,
  chains: readonly (string | null)[],
): AuditDraft[] {
  const entry = {
    action: travelAction(enabled),
    actor,
    target: { type: "user", id: userId },
    status: 200,
  } satisfies Omit<AuditEntry, "org_id">;
  return chains.map((org_id) => auditOf(deps, request, { org_id, ...entry }));
}

export function travelAction(enabled: boolean): "user.travel_mode.enabled" | "user.travel_mode.disabled" {
  return enabled ? "user.travel_mode.enabled" : "user.travel_mode.disabled";
}
