import type { RequestContext } from "@coffer/http";
import type { LoginSource } from "../store/login-starts.ts";

/** Where a call of a login came from, as it is kept for the audit. */
export function loginSource({ ip, userAgent, id }: RequestContext): LoginSource {
  return { ip, userAgent, requestId: id };
}
