import type { IncomingMessage, ServerResponse } from "node:http";
import { createBegin } from "./begin.ts";
import type { Cors } from "./cors.ts";
import type { AppOptions } from "./create-app.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call } from "./route.ts";

/** A request in progress. */
export interface Exchange<Caller> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  /** The path parameters, unchecked. */
  readonly params: Readonly<Record<string, string>>;
  /** The response headers, as name, value, name, value. */
  readonly headers: string[];
  /** The limiter has let it pass. */
  admitted: boolean;
  caller: Caller | undefined;
  /** The call for the operation, once the request was read. */
  call: Call<Caller> | undefined;
  /** To be called before a refusal for the request's form. */
  confirm: (() => Promise<unknown>) | undefined;
}

/** Makes the function that opens an exchange. */
export function createOpen<Deps, Caller>(options: AppOptions<Deps, Caller>, cors: Cors) {
  const begin = createBegin(options);
  return (
    request: IncomingMessage,
    response: ServerResponse,
    route: string,
    params: Readonly<Record<string, string>>,
  ): Exchange<Caller> => {
    const context = begin(request, route);
    const headers = ["X-Request-Id", context.id, "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];
    headers.push(...cors.headersFor(request));
    const unknown = { admitted: false, caller: undefined, call: undefined, confirm: undefined };
    return { request, response, context, params, headers, ...unknown };
  };
}
