export {
  type Actor,
  type AuditEntry,
  auditOf,
  auditOfRefusal,
  type AuditResult,
  newIdIn,
  type RouteAudit,
} from "./audit.ts";
export {
  type Anonymous,
  anyone,
  type Authenticate,
  type AuthInput,
  bearerToken,
  type Confirmable,
} from "./caller/authenticate.ts";
export { chosenOrg } from "./caller/chosen-org.ts";
export { type App, type AppOptions, createApp } from "./create-app.ts";
export {
  base64Text,
  compactJwe,
  compactJws,
  cursorText,
  instantText,
  decodeCursor,
  encodeCursor,
  isBase64,
  listOf,
  namedValues,
  nameText,
  pageLimit,
  sha256Text,
  timestampText,
  uidText,
  uuidText,
} from "./request/fields.ts";
export { endSocket } from "./sockets/end-socket.ts";
export { heldTags } from "./request/entity-tags.ts";
export { answerParts, cursorAfter, type ListOf, listText, type Part } from "./response/list-text.ts";
export { type AnswerLimits, createMemoryLimits } from "./memory/memory-limits.ts";
export { createObserve } from "./observe.ts";
export { oversize } from "./request/oversize.ts";
export { pathOf } from "./request/read-query.ts";
export { passOn } from "./response/pass-on.ts";
export { createRefusals, type Refusals } from "./response/refusals.ts";
export { type NotModified, notModified, streamed, type Streamed, tagged, type Tagged } from "./response/reply.ts";
export type { RequestContext } from "./request-context.ts";
export { requestIdOf } from "./request-id.ts";
export {
  type AuditedCall,
  type Call,
  type Method,
  type PermitCall,
  type RefusedCall,
  type Route,
  route,
  type RouteRow,
} from "./route.ts";
export { routerSecretHeader, sourceOf } from "./begin.ts";
export { type Listener, serve, type ServeOptions, type Serving, type Timeouts } from "./serve.ts";
export type { Upgrade, UpgradeRoute } from "./sockets/upgrade.ts";
export type { Bucket } from "@coffer/ratelimit";
