import type { IncomingMessage, ServerResponse } from "node:http";
import type { Decision } from "@coffer/ratelimit";
import { answer } from "./answer.ts";
import type { Confirmable } from "./authenticate.ts";
import { isConfirmable } from "./authenticate.ts";
import { createBegin } from "./begin.ts";
import { createCors } from "./cors.ts";
import type { AppOptions } from "./create-app.ts";
import { expectedTag, heldTags } from "./entity-tags.ts";
import { bucketOfPath, overLimit, rateLimitHeaders } from "./rate-limit.ts";
import { RequestAborted, readBytes, readJson } from "./read-body.ts";
import { pathOf, readQuery } from "./read-query.ts";
import { nothingAt, refusalBody, refusalHeaders, visibleError } from "./refusal.ts";
import { readReply } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";
import type { Call, Route } from "./route.ts";
import { observeRequests } from "./observe.ts";
import { validate } from "./validate.ts";

type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
) => Promise<void>;

/** One request on its way: what has been found out so far. */
interface Exchange<Caller> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: string[];
  limited: boolean;
  caller: Caller | undefined;
  /** Still to be called before a refusal for the form of the request. */
  confirm: (() => Promise<unknown>) | undefined;
}

/** Makes the functions that answer requests: one for each route, one for what no route matches. */
export function createExchanges<Deps, Caller>(options: AppOptions<Deps, Caller>) {
  const { deps, limiter, onRefused, telemetry } = options;
  const now = options.now ?? (() => new Date());
  const begin = createBegin({ trustedProxies: options.trustedProxies, routerSecret: options.routerSecret, now });
  const cors = createCors(options.corsOrigins);
  const observe = observeRequests(telemetry);

  function open(
    request: IncomingMessage,
    response: ServerResponse,
    route: string,
    params: Readonly<Record<string, string>>,
  ): Exchange<Caller> {
    const context = begin(request, route);
    const headers = ["X-Request-Id", context.id, "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];
    headers.push(...cors.headersFor(request));
    return { request, response, context, params, headers, limited: false, caller: undefined, confirm: undefined };
  }

  async function admit(exchange: Exchange<Caller>, bucket: Route<Deps>["bucket"]): Promise<void> {
    const decision: Decision = await limiter.take(bucket, exchange.context.ip);
    exchange.headers.push(...rateLimitHeaders(bucket, limiter.windowSeconds, decision));
    if (!decision.accepted) throw overLimit(decision);
    exchange.limited = true;
  }

  async function identify(row: Route<Deps, Caller>, exchange: Exchange<Caller>): Promise<Caller> {
    const { context, request } = exchange;
    const { headers } = request;
    const found: Caller | Confirmable<Caller> = await row.caller(
      { authorization: headers.authorization, headers, request: context },
      deps,
    );
    if (!isConfirmable(found)) return (exchange.caller = found);
    exchange.caller = found.caller;
    if (row.lazy) exchange.confirm = found.confirm;
    else await found.confirm();
    return found.caller;
  }

  async function readCall(row: Route<Deps, Caller>, exchange: Exchange<Caller>, caller: Caller): Promise<Call<Caller>> {
    const { request, response, context, params } = exchange;
    const { headers } = request;
    let body: unknown;
    if (row.body === "raw") body = await readBytes(request, response, row.bodyLimitBytes);
    else if (row.body !== undefined) body = await readJson(request, response, row.bodyLimitBytes);
    return {
      caller,
      params: row.params === undefined ? params : pathParams(row.params, params, request),
      query: row.query === undefined ? undefined : validate(row.query, readQuery(request.url ?? ""), "query"),
      body: row.body === undefined || row.body === "raw" ? body : validate(row.body, body, "body"),
      request: context,
      held: heldTags(headers["if-none-match"]),
      expected: expectedTag(headers["if-match"]),
    };
  }

  function send(row: Route<Deps, Caller>, { request, response, headers }: Exchange<Caller>, reply: unknown): number {
    const { tag, held, value } = readReply(reply);
    if (tag !== undefined) headers.push("ETag", `"${tag}"`);
    const status = held ? 304 : row.status;
    const body = status === 200 || status === 201 ? JSON.stringify(value) : undefined;
    answer(request, response, status, headers, body);
    return status;
  }

  async function refuse(row: Route<Deps, Caller> | undefined, exchange: Exchange<Caller>, thrown: unknown) {
    const error = await finalError(row, exchange, thrown);
    const { context, headers, request, response } = exchange;
    if (error.status >= 500) {
      const fields = {
        err: error.cause ?? error,
        request_id: context.id,
        method: context.method,
        route: context.route,
      };
      if (error.code === "internal_error") telemetry.log.error(fields, "a request failed");
      else telemetry.log.warn(fields, "a request could not be served");
    }
    headers.push(...refusalHeaders(error));
    answer(request, response, error.status, headers, refusalBody(error, context.id));
    return error.status;
  }

  /** The error that is answered in the end: a revoked caller's 401 and a failed audit go before the first one. */
  async function finalError(row: Route<Deps, Caller> | undefined, exchange: Exchange<Caller>, thrown: unknown) {
    let error = visibleError(thrown);
    const { caller, confirm, context, params } = exchange;
    if (confirm !== undefined && [400, 404, 413].includes(error.status))
      error = await confirm().then(() => error, visibleError);
    if (row === undefined || onRefused === undefined || !exchange.limited || error.status >= 500) return error;
    return onRefused(row, { caller, params, request: context }, error).then(() => error, visibleError);
  }

  function of(row: Route<Deps, Caller>): Handle {
    const template = row.path.replace(/:([^/]+)/g, "{$1}");
    return async (request, response, params) => {
      const started = performance.now();
      const exchange = open(request, response, template, params);
      let status: number;
      try {
        await admit(exchange, row.bucket);
        const caller = await identify(row, exchange);
        const call = await readCall(row, exchange, caller);
        status = send(row, exchange, await row.run(deps, call as Call<never>));
      } catch (error) {
        status = error instanceof RequestAborted ? 499 : await refuse(row, exchange, error);
      }
      observe(started, exchange.context.method, template, status);
    };
  }

  async function unmatched(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const exchange = open(request, response, "unmatched", {});
    const path = pathOf(request.url ?? "");
    const bucket = bucketOfPath(path);
    let error: unknown = nothingAt(path, "there is nothing at this path with this method");
    if (bucket !== undefined) await admit(exchange, bucket).catch((refusal: unknown) => (error = refusal));
    const status = await refuse(undefined, exchange, error);
    observe(started, exchange.context.method, "unmatched", status);
  }

  function preflight(request: IncomingMessage, response: ServerResponse): boolean {
    const headers = cors.preflight(request);
    if (headers === undefined) return false;
    response.writeHead(204, [...headers, "Cache-Control", "no-store"]);
    response.end();
    return true;
  }

  return { of, unmatched, preflight };
}

function pathParams(schema: NonNullable<Route<unknown>["params"]>, params: unknown, request: IncomingMessage): unknown {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw nothingAt(pathOf(request.url ?? ""), "there is nothing with this id");
}
