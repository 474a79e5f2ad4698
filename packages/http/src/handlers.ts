import type { IncomingMessage, ServerResponse } from "node:http";
import type { Span } from "@coffer/telemetry";
import { extractTrace, span } from "@coffer/telemetry";
import { admit } from "./admit.ts";
import { closedByCaller } from "./closed-by-caller.ts";
import { isGone } from "./begin.ts";
import { createCors } from "./cors.ts";
import type { AppOptions } from "./create-app.ts";
import type { Exchange } from "./exchange.ts";
import { createOpen } from "./exchange.ts";
import { identify, isOutdated } from "./identify.ts";
import { createObserve } from "./observe.ts";
import { bucketOfPath } from "./rate-limit.ts";
import { RequestAborted } from "./read-body.ts";
import { permitLargeBody } from "./permit-large-body.ts";
import { readCall } from "./read-call.ts";
import { pathOf } from "./read-query.ts";
import { nothingAt } from "./refusal.ts";
import { createRefuse } from "./refuse.ts";
import type { Call, Route } from "./route.ts";
import type { Handle } from "./routers.ts";
import { sendReply } from "./send-reply.ts";

const unmatchedRoute = "unmatched";
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum is a value of a package that telemetry alone imports
const spanError = 2 as Parameters<Span["setStatus"]>[0]["code"];

/** Makes the functions that answer requests: for each route, for what no route matches, for preflights. */
export function createHandlers<Deps, Caller>(options: AppOptions<Deps, Caller>) {
  const { deps, limiter, telemetry } = options;
  const cors = createCors(options.corsOrigins);
  const open = createOpen(options, cors);
  const refuse = createRefuse(options);
  const observe = createObserve(telemetry);

  async function serveRoute(row: Route<Deps, Caller>, exchange: Exchange<Caller>): Promise<number> {
    try {
      await admit(limiter, row.bucket, exchange);
      exchange.admitted = true;
      const caller = await identify(row, deps, exchange);
      const identifiedAt = performance.now();
      await permitLargeBody(row, deps, exchange, caller);
      exchange.call = await readCall(row, exchange, caller);
      if (isOutdated(row, identifiedAt))
        exchange.call = { ...exchange.call, caller: await identify(row, deps, exchange) };
      return await sendReply(row, exchange, await row.run(deps, exchange.call as Call<never>)); // made by the row's own schemas
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

  /** Runs a request inside its span and notes how long it took. One whose caller is gone already is not begun. */
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

  /** Neither limited nor recorded: whatever it asked for, nobody would have it. */
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

  /** Answers a browser's question whether it may ask; false when the request is none. Neither limited nor recorded. */
  function preflight(request: IncomingMessage, response: ServerResponse): boolean {
    const headers = cors.preflight(request);
    if (headers === undefined) return false;
    response.writeHead(204, [...headers, "Cache-Control", "no-store"]);
    response.end();
    return true;
  }

  return { handlerOf, unmatched, preflight };
}
