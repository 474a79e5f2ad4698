import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Bucket } from "@coffer/ratelimit";
import { extractTrace, type Span, span } from "@coffer/telemetry";
import { admit } from "../caller/admit.ts";
import { createBegin, isGone } from "../begin.ts";
import type { AppOptions } from "../create-app.ts";
import { logFailure } from "../response/log-failure.ts";
import { bucketOfPath } from "../caller/rate-limit.ts";
import { pathOf, readQuery } from "../request/read-query.ts";
import { nothingAt, refusalBody, refusalHeaders, visibleError } from "../response/refusal.ts";
import { inPairs, refuseUpgrade } from "./refuse-upgrade.ts";
import type { RequestContext } from "../request-context.ts";

/** An upgrade request that the limiter accepted. The operation takes over the socket. */
export interface Upgrade {
  readonly request: RequestContext;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The span of the upgrade, without the later messages. */
  readonly span: Span;
  /** Headers for the 101 response: request id and rate limit. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** An endpoint that upgrades the connection. */
export interface UpgradeRoute<Deps> {
  readonly path: string;
  readonly bucket: Bucket;
  /** Takes over the socket, or throws a `ServiceError`, which is sent as an HTTP response. */
  readonly run: (deps: Deps, upgrade: Upgrade) => Promise<unknown>;
}

/**
 * Makes the listener of a server's `upgrade` event. Order: request id, source address, limiter,
 * operation. Each upgrade is a span in its caller's trace, with the status of a refusal.
 */
export function createUpgrade<Deps, Caller>(options: AppOptions<Deps, Caller>) {
  const { deps, limiter, telemetry } = options;
  const begin = createBegin(options);
  const rows = new Map(options.upgrades?.map((row) => [row.path, row]));

  async function take(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const path = pathOf(incoming.url ?? "");
    const row = rows.get(path);
    const context = begin(incoming, row?.path ?? "unmatched");
    if (isGone(context)) {
      socket.destroy();
      return;
    }
    const headers = ["X-Request-Id", context.id];
    const { method, route } = context;
    const attributes = { "http.request.method": method, "http.route": route };
    const run = async (active: Span): Promise<void> => {
      try {
        const bucket = row?.bucket ?? bucketOfPath(path);
        if (bucket !== undefined) await admit(limiter, bucket, { context, headers });
        if (row === undefined) throw nothingAt(path, "nothing at this path accepts an upgrade");
        const query = readQuery(incoming.url ?? "");
        const upgrade = { request: context, query, incoming, socket, head, span: active, headers: inPairs(headers) };
        await row.run(deps, upgrade);
      } catch (error) {
        active.setAttribute("http.response.status_code", visibleError(error).status);
        throw error;
      }
    };
    try {
      await span(`${method} ${route}`, attributes, "server", run, extractTrace(incoming.headers));
    } catch (thrown) {
      const error = visibleError(thrown);
      logFailure(telemetry.log, error, context);
      refuseUpgrade(socket, error.status, [...headers, ...refusalHeaders(error)], refusalBody(error, context.id));
    }
  }

  return function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener, an error would end the process.
    socket.on("error", () => undefined);
    void take(incoming, socket, head);
  };
}
