import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Bucket } from "./route.ts";
import { createBegin } from "./begin.ts";
import type { AppOptions } from "./create-app.ts";
import { overLimit, rateLimitHeaders } from "./rate-limit.ts";
import { pathOf, readQuery } from "./read-query.ts";
import { nothingAt, refusalBody, refusalHeaders, visibleError } from "./refusal.ts";
import type { RequestContext } from "./request-context.ts";

/** A request to change protocols, as Node hands it out: the operation takes over the socket. */
export interface Upgrade {
  readonly request: RequestContext;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The limiter's headers, as name and value, for the answer that accepts the upgrade. */
  readonly headers: readonly (readonly [string, string])[];
}

/** An endpoint that takes the connection over. */
export interface UpgradeRoute<Deps> {
  readonly path: string;
  readonly bucket: Bucket;
  /** Takes the socket, or throws a `ServiceError` that is then written to it as an ordinary answer. */
  readonly run: (deps: Deps, upgrade: Upgrade) => Promise<unknown>;
}

/** Makes the listener of a server's `upgrade` event. Order as for requests: id, address, limiter, the operation. */
export function createUpgrade<Deps, Caller>(options: AppOptions<Deps, Caller>) {
  const { deps, limiter, telemetry } = options;
  const now = options.now ?? (() => new Date());
  const begin = createBegin({ trustedProxies: options.trustedProxies, routerSecret: options.routerSecret, now });
  const rows = new Map(options.upgrades?.map((row) => [row.path, row]));

  return function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A socket that breaks before anybody owns it must not end the process.
    const ignore = (): void => undefined;
    socket.on("error", ignore);
    void take(incoming, socket, head).finally(() => socket.removeListener("error", ignore));
  };

  async function take(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const path = pathOf(incoming.url ?? "");
    const row = rows.get(path);
    const request = begin(incoming, row?.path ?? "unmatched");
    const headers: string[] = ["X-Request-Id", request.id];
    try {
      if (row === undefined) throw nothingAt(path, "there is nothing at this path that changes protocols");
      const decision = await limiter.take(row.bucket, request.ip);
      headers.push(...rateLimitHeaders(row.bucket, limiter.windowSeconds, decision));
      if (!decision.accepted) throw overLimit(decision);
      await row.run(deps, {
        request,
        query: readQuery(incoming.url ?? ""),
        incoming,
        socket,
        head,
        headers: inPairs(headers),
      });
    } catch (thrown) {
      const error = visibleError(thrown);
      if (error.code === "internal_error")
        telemetry.log.error({ err: error.cause, request_id: request.id, route: request.route }, "an upgrade failed");
      const body = refusalBody(error, request.id);
      headers.push(...refusalHeaders(error));
      refuse(socket, error.status, headers, body);
    }
  }
}

function inPairs(list: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push([list[at] ?? "", list[at + 1] ?? ""]);
  return pairs;
}

function refuse(socket: Duplex, status: number, headers: readonly string[], body: string): void {
  if (!socket.writable) return;
  const lines = [...inPairs(headers), ...inPairs(always(body))].map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}

const always = (body: string): string[] => [
  ...["Connection", "close", "Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"],
  ...["Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(body))],
];
