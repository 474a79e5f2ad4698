import type { RequestContext } from "@coffer/http";
import type { LoginCall } from "../store/login-starts.ts";

/** A call of a login as it is kept for the audit, with the status of its answer. */
export function loginCall({ ip, userAgent, id, method, route }: RequestContext, status: number): LoginCall {
  return { ip, userAgent, requestId: id, method, route, status };
}
