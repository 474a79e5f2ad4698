import type { AuditDraft } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { Actor, AuditEntry } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";

/** Who turns whose travel mode on or off. */
export interface Switch {
  userId: string;
  enabled: boolean;
  actor: Actor;
  request: RequestContext;
}

/**
 * The records of a switch, one for each of these chains. vaults, which keeps the mode, keeps them together with it, if
 * anything changes.
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

/** What the audit calls it. */
export function travelAction(enabled: boolean): "user.travel_mode.enabled" | "user.travel_mode.disabled" {
  return enabled ? "user.travel_mode.enabled" : "user.travel_mode.disabled";
}
