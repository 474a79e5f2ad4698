import type { AuditAction } from "@coffer/contract";
import { type AuditDraft, auditSchemaName } from "@coffer/events";
import type { ServiceError } from "@coffer/errors";
import { uuidText } from "./request/fields.ts";
import type { RequestContext } from "./request-context.ts";

/** The actor of an audit record. */
export type Actor = AuditDraft["actor"];

/** The target of an audit record. */
type Target = AuditDraft["target"];

/** A call without its path parameters. */
interface Sent {
  /** The caller. */
  actorId: string | null;
  /** The organization in which the caller acts. */
  orgId: string | null;
  /** Parsed by the route's schemas; undefined if the call was refused before. */
  query: unknown;
  body: unknown;
}

/** The audit action and target of a route's calls, also of refused ones. */
export interface RouteAudit {
  /** May depend on the request. */
  readonly action: AuditAction | ((sent: Sent) => AuditAction);
  /** The resource, as far as the request names it. */
  readonly target: (params: Readonly<Record<string, string>>, sent: Sent) => Target;
}

/**
 * The id in the body of a creation, if the client made one, for the target of a refused creation.
 * @param body parsed by the route's schema, or undefined
 */
export function newIdIn(body: unknown, name: "id" | "uid"): string | null {
  const { [name]: id } = Object(body) as { readonly [field in typeof name]?: unknown };
  return typeof id === "string" ? id : null;
}

/** The part of a call's audit record that the operation knows. */
export interface AuditResult {
  /** The organization whose chain gets the record; null for the actor's own chain. */
  orgId: string | null;
  actor: Actor;
  /** Values that the request does not name, such as the id of a new resource. */
  target?: Partial<Target>;
  changes?: NonNullable<AuditDraft["changes"]>;
  count?: number;
  reason?: string | undefined;
  /** `success` when omitted. */
  outcome?: AuditDraft["outcome"];
  /** The HTTP status of the response; the route's when omitted. */
  status?: number;
}

/** The part of an audit record that the request does not determine. */
export interface AuditEntry {
  org_id: string | null;
  action: AuditAction;
  actor: Actor;
  target: Target;
  /** `success` when omitted. */
  outcome?: AuditDraft["outcome"];
  reason?: string;
  /** The HTTP status of the response. */
  status: number;
  changes?: NonNullable<AuditDraft["changes"]>;
  count?: number;
}

/** The audit record of one action of one request, before it is chained. */
export function auditOf(deps: { newId(): string }, request: RequestContext, entry: AuditEntry): AuditDraft {
  const { status, outcome = "success", ...rest } = entry;
  return {
    schema: auditSchemaName,
    id: deps.newId(),
    time: request.time,
    outcome,
    ...rest,
    source: { ip: request.ip, user_agent: request.userAgent },
    request: { id: request.id, method: request.method, route: request.route, status },
  };
}

function actionOf({ action }: RouteAudit, sent: Sent): AuditAction {
  return typeof action === "function" ? action(sent) : action;
}

/** The refused caller, and the reason. */
interface Refusal {
  orgId: string | null;
  actor: Actor;
  outcome: "denied" | "failure";
  error: Pick<ServiceError, "code" | "status">;
}

/** A refused call; its path parameters are unchecked. */
interface Refused {
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
  request: RequestContext;
}

/** The audit record of a refused call. Its target has no ids that are not well-formed. */
export function auditOfRefusal(
  deps: { newId(): string },
  audit: RouteAudit,
  { params, query, body, request }: Refused,
  { orgId, actor, outcome, error }: Refusal,
): AuditDraft {
  const sent = { actorId: actor.id, orgId, query, body };
  return auditOf(deps, request, {
    org_id: orgId,
    action: actionOf(audit, sent),
    actor,
    target: wellFormed(audit.target(params, sent)),
    outcome,
    reason: error.code,
    status: error.status,
  });
}

function wellFormed({ type, id, parent_id }: Target): Target {
  const [own, parent] = [wellFormedId(id), wellFormedId(parent_id)];
  return { type, id: own, ...(parent === null ? {} : { parent_id: parent }) };
}

function wellFormedId(text: string | null | undefined): string | null {
  if (text === null || text === undefined || !/^[\w-]{1,64}$/.test(text)) return null;
  return uuidText.safeParse(text).data ?? text;
}

/** A validated call, with the status of its route. */
interface ReadCall {
  params: unknown;
  query: unknown;
  body: unknown;
  request: RequestContext;
  status: number;
}

/** Makes the `audit` of a call. `newId` makes the id of the record. */
export function callAudit(
  audit: RouteAudit,
  { params, query, body, request, status }: ReadCall,
  newId: () => string,
): (result: AuditResult) => AuditDraft {
  const named = (params ?? {}) as Readonly<Record<string, string>>; // path parameters are text
  return ({ orgId, actor, target, reason, ...rest }) => {
    const sent = { actorId: actor.id, orgId, query, body };
    return auditOf({ newId }, request, {
      org_id: orgId,
      action: actionOf(audit, sent),
      actor,
      target: { ...audit.target(named, sent), ...target },
      status,
      ...(reason && { reason }),
      ...rest,
    });
  };
}
