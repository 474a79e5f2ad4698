export { anyone, bearerToken } from "./authenticate.ts";
export type { Anonymous, Authenticate, AuthInput, Confirmable } from "./authenticate.ts";
export { chosenOrg } from "./chosen-org.ts";
export { createApp } from "./create-app.ts";
export type { App, AppOptions, RefusedCall } from "./create-app.ts";
export { decodeCursor, encodeCursor } from "./cursor.ts";
export {
  base64Text,
  compactJwe,
  compactJws,
  cursorText,
  listOf,
  namedValues,
  nameText,
  pageLimit,
  sha256Text,
  timestampText,
  uidText,
  uuidText,
} from "./fields.ts";
export { endSocket } from "./end-socket.ts";
export { oversize } from "./oversize.ts";
export { pathOf } from "./read-query.ts";
export { createRefusals } from "./refusals.ts";
export type { Refusals } from "./refusals.ts";
export { notModified, streamed, tagged } from "./reply.ts";
export type { NotModified, Streamed, Tagged } from "./reply.ts";
export type { RequestContext } from "./request-context.ts";
export { route } from "./route.ts";
export type { Call, Method, PermitCall, Route, RouteRow } from "./route.ts";
export { routerSecretHeader, sourceOf } from "./begin.ts";
export { serve } from "./serve.ts";
export type { Listener, ServeOptions, Serving, Timeouts } from "./serve.ts";
export type { Upgrade, UpgradeRoute } from "./upgrade.ts";
export type { Bucket } from "@coffer/ratelimit";
