import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extractTrace, span, type Span } from "@coffer/telemetry";
import { admit } from "./caller/admit.ts";
import { answer } from "./response/answer.ts";
import { isGone } from "./begin.ts";
import { closedByCaller } from "./response/closed-by-caller.ts";
import { createCors } from "./cors.ts";
import type { AppOptions } from "./create-app.ts";
import { createOpen, type Exchange } from "./exchange.ts";
import { identify, isOutdated } from "./caller/identify.ts";
import { type AnswerMemory, createMemoryLimits } from "./memory/memory-limits.ts";
import { permitLargeBody } from "./request/permit-large-body.ts";
import { createObserve } from "./observe.ts";
import { bucketOfPath } from "./caller/rate-limit.ts";
import { RequestAborted } from "./request/read-body.ts";
import { readCall } from "./request/read-call.ts";
import { pathOf } from "./request/read-query.ts";
import { nothingAt } from "./response/refusal.ts";
import { createRefuse } from "./response/refuse.ts";
import { readReply } from "./response/reply.ts";
import type { Call, Route } from "./route.ts";
import type { Handle } from "./routers.ts";
import { sendParts } from "./response/send-parts.ts";
import { sendWhole } from "./response/send-whole.ts";

const unmatchedRoute = "unmatched";
// A number, since the enum is a value of a package that telemetry alone imports.
const spanError = 2 as Parameters<Span["setStatus"]>[0]["code"];

/** Makes the handlers: of each route, of unmatched requests and of preflights. */
export function createHandlers<Deps, Caller>(options: AppOptions<Deps, Caller>) {
  const { deps, limiter, telemetry, newId = randomUUID, unreadMilliseconds } = options;
  const cors = createCors(options.corsOrigins);
  const open = createOpen(options, cors);
  const refuse = createRefuse(options);
  const observe = createObserve(telemetry);
  const memory = createMemoryLimits(telemetry, unreadMilliseconds);

  async function serveRoute(row: Route<Deps, Caller>, exchange: Exchange<Caller>): Promise<number> {
    try {
      await admit(limiter, row.bucket, exchange);
      if (row.method === "GET") memory.requireReader(exchange.context.ip);
      exchange.admitted = true;
      const caller = await identify(row, deps, exchange);
      const identifiedAt = performance.now();
      await permitLargeBody(row, deps, exchange, caller);
      const body = memory.openBody(exchange.context.ip);
      let reply: unknown;
      try {
        exchange.call = await readCall(row, exchange, caller, { newId, body });
        if (isOutdated(row, identifiedAt))
          exchange.call = { ...exchange.call, caller: await identify(row, deps, exchange) };
        reply = await row.run(deps, exchange.call as Call<never>); // made by the row's own schemas
      } finally {
        body.close();
      }
      return await sendReply(row, exchange, reply, () => memory.openAnswer(exchange.context.ip));
    } catch (error) {
      return error instanceof RequestAborted ? closedByCaller : refuse(row, exchange, error);
    }
  }

  async function serveNothing(exchange: Exchange<Caller>): Promise<number> {
    const path = pathOf(exchange.request.url ?? "");
    const bucket = bucketOfPath(path);
    try {
      if (bucket !== undefined) await admit(limiter, bucket, exchange);
      throw nothingAt(path, "there is nothing at this path with this method");
    } catch (error) {
      return refuse(undefined, exchange, error);
    }
  }

  /** Runs a request in its span and measures it. Skips a request whose caller has disconnected. */
  async function measure(exchange: Exchange<Caller>, work: () => Promise<number>): Promise<void> {
    const started = performance.now();
    const { method, route } = exchange.context;
    const attributes = { "http.request.method": method, "http.route": route };
    const run = async (active: Span): Promise<number> => {
      const status = isGone(exchange.context) ? abandon(exchange) : await work();
      active.setAttribute("http.response.status_code", status);
      if (status >= 500) active.setStatus({ code: spanError });
      return status;
    };
    const parent = extractTrace(exchange.request.headers);
    const status = await span(`${method} ${route}`, attributes, "server", run, parent);
    observe(exchange.context, status, (performance.now() - started) / 1000);
  }

  /** Without limit and audit: the caller has disconnected. */
  function abandon({ response }: Exchange<Caller>): number {
    response.destroy();
    return closedByCaller;
  }

  function handlerOf(row: Route<Deps, Caller>): Handle {
    const route = row.path.replace(/:([^/]+)/g, "{$1}");
    return (request, response, params) => {
      const exchange = open(request, response, route, params);
      void measure(exchange, () => serveRoute(row, exchange));
    };
  }

  function unmatched(request: IncomingMessage, response: ServerResponse): void {
    const exchange = open(request, response, unmatchedRoute, {});
    void measure(exchange, () => serveNothing(exchange));
  }

  /** Answers a CORS preflight, without limit and audit; false for any other request. */
  function preflight(request: IncomingMessage, response: ServerResponse): boolean {
    const headers = cors.preflight(request);
    if (headers === undefined) return false;
    response.writeHead(204, [...headers, "Cache-Control", "no-store"]);
    response.end();
    return true;
  }

  return { handlerOf, unmatched, preflight };
}

/**
 * Sends the result of an operation. Returns the status.
 * @throws TypeError if the route has a body and the operation returned none; any error of the parts;
 *   ServiceError if there is no memory for the answer
 */
function sendReply<Deps, Caller>(
  row: Route<Deps, Caller>,
  exchange: Exchange<Caller>,
  reply: unknown,
  openMemory: () => AnswerMemory,
): number | Promise<number> {
  const { tag, held, value, parts } = readReply(reply);
  const headers = tag === undefined ? exchange.headers : [...exchange.headers, "ETag", `"${tag}"`];
  if (held) return answer(exchange, 304, headers, undefined);
  if (parts !== undefined) return sendParts(exchange, row.status, headers, parts, openMemory());
  if (row.status === 204) return answer(exchange, 204, headers, undefined);
  const body = JSON.stringify(value) as string | undefined; // undefined if JSON cannot express the value
  if (body === undefined) throw new TypeError(`${row.method} ${row.path} returned nothing to answer with`);
  return sendWhole(exchange, row.status, headers, body, openMemory);
}
