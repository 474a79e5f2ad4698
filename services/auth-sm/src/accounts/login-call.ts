import type { RequestContext } from "@coffer/http";
import type { LoginCall } from "../store/accounts/login-starts.ts";

/** The request of a login, as its audit record needs it, with the status of the response. */
export function loginCall({ ip, userAgent, id, method, route }: RequestContext, status: number): LoginCall {
  return { ip, userAgent, requestId: id, method, route, status };
}
