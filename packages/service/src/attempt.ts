import type { AuditAction, AuditDraft } from "@coffer/events";
import { uuidText } from "@coffer/http";

/** What is known of a refused call besides the parameters of its path. */
export interface Sent {
  /** Who calls. */
  actorId: string;
  /** The organization in which the caller acts. */
  orgId: string | null;
  /** As the route's schemas made them; undefined when the call was refused before they were read. */
  query: unknown;
  body: unknown;
}

/** What a call of an endpoint attempts, for the record of its refusal. */
export interface Attempt {
  /** Which it is may depend on what was sent. */
  action: AuditAction | ((sent: Sent) => AuditAction);
  /** What it is about. */
  target: (params: Readonly<Record<string, string>>, sent: Sent) => AuditDraft["target"];
}

/** A route that says what it attempts. One whose refusals are no business of the audit does not. */
export type AttemptingRoute<SomeRoute> = SomeRoute & { readonly attempt: Attempt };

/** Says of a route what a call of it attempts. */
export function attempting<SomeRoute extends object>(
  action: Attempt["action"],
  target: Attempt["target"],
  route: SomeRoute,
): AttemptingRoute<SomeRoute> {
  return Object.assign(route, { attempt: { action, target } });
}

/** What a call attempts, given what was sent. */
export function attemptedAction({ action }: Attempt, sent: Sent): AuditAction {
  return typeof action === "function" ? action(sent) : action;
}

/** A target as it may be recorded. Parameters come as they were sent: what has not the form of an id is not repeated. */
export function plainTarget({ type, id, parent_id }: AuditDraft["target"]): AuditDraft["target"] {
  const [own, parent] = [plainId(id), plainId(parent_id)];
  return { type, id: own, ...(parent === null ? {} : { parent_id: parent }) };
}

function plainId(text: string | null | undefined): string | null {
  if (text === null || text === undefined || !/^[\w-]{1,64}$/.test(text)) return null;
  return uuidText.safeParse(text).data ?? text;
}
