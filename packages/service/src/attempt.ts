import type { AuditAction } from "@coffer/contract";
import type { AuditDraft } from "@coffer/events";
import { uuidText } from "@coffer/http";

/** A refused call without its path parameters. */
export interface Sent {
  /** The caller. */
  actorId: string;
  /** The organization in which the caller acts. */
  orgId: string | null;
  /** Parsed by the route's schemas; undefined if the refusal came before. */
  query: unknown;
  body: unknown;
}

/** The audit action and target of a refused call. */
export interface Attempt {
  /** May depend on the request. */
  action: AuditAction | ((sent: Sent) => AuditAction);
  /** The resource. */
  target: (params: Readonly<Record<string, string>>, sent: Sent) => AuditDraft["target"];
}

/** A route whose refusals are audited. */
export type AttemptingRoute<SomeRoute> = SomeRoute & { readonly attempt: Attempt };

/** Adds to a route the audit action and target of its refusals. */
export function attempting<SomeRoute extends object>(
  action: Attempt["action"],
  target: Attempt["target"],
  route: SomeRoute,
): AttemptingRoute<SomeRoute> {
  return Object.assign(route, { attempt: { action, target } });
}

export function attemptedAction({ action }: Attempt, sent: Sent): AuditAction {
  return typeof action === "function" ? action(sent) : action;
}

/** The target without ids that are not well-formed: path parameters are client input. */
export function plainTarget({ type, id, parent_id }: AuditDraft["target"]): AuditDraft["target"] {
  const [own, parent] = [plainId(id), plainId(parent_id)];
  return { type, id: own, ...(parent === null ? {} : { parent_id: parent }) };
}

function plainId(text: string | null | undefined): string | null {
  if (text === null || text === undefined || !/^[\w-]{1,64}$/.test(text)) return null;
  return uuidText.safeParse(text).data ?? text;
}
