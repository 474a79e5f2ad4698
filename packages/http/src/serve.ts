import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { answerClientError, refuseHostless } from "./client-error.ts";
import { createDrain } from "./drain.ts";

export interface Listener {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Takes requests for a WebSocket. Without it they are answered as ordinary ones. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** In milliseconds. */
export interface Timeouts {
  /** Until the headers of a request are there. */
  headers: number;
  /** Until all of a request is there. */
  request: number;
  /** During which nothing moves on a connection with a request: its caller does not take the answer. */
  idle: number;
}

export interface ServeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** How long `close` waits for requests in flight before it cuts them. */
  drainSeconds: number;
  /** Default: 10 s, 120 s, 120 s. */
  timeouts?: Timeouts;
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more connections, lets requests in flight finish, closes connections as they become idle, leaves upgraded
   * connections to whoever took them over, and cuts what is left of both after the drain period.
   */
  close(): Promise<void>;
}

const defaultTimeouts: Timeouts = { headers: 10_000, request: 120_000, idle: 120_000 };
const longestCheckMilliseconds = 1_000;
// Longer than proxies keep an idle connection, so that none is closed under a request on its way.
const keepAliveMilliseconds = 75_000;
const headerBytes = 16 * 1024;

/**
 * Listens for HTTP/1.1 requests.
 * @throws what `listen` throws, for example an error with code EADDRINUSE.
 */
export async function serve(listener: Listener, options: ServeOptions): Promise<Serving> {
  const { host, port, drainSeconds, timeouts = defaultTimeouts } = options;
  const { upgrade } = listener;
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: Math.min(longestCheckMilliseconds, timeouts.headers / 2),
    keepAliveTimeout: keepAliveMilliseconds,
    maxHeaderSize: headerBytes,
    requireHostHeader: false,
    // Anything else that a client offers to change to (h2c) is declined by answering the request.
    shouldUpgradeCallback: ({ headers }) => upgrade !== undefined && headers.upgrade?.toLowerCase() === "websocket",
  });
  server.setTimeout(timeouts.idle);
  const drain = createDrain(server);
  const upgraded = new Set<Duplex>();

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    drain.note(response);
    if (!refuseHostless(request, response)) listener(request, response);
  };
  server.on("request", take);
  // Node would say 100 Continue before anybody has looked at the request; whoever reads the body says it.
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  server.on("clientError", answerClientError);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    drain.leave(socket);
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    upgrade?.(request, socket, head);
  });

  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo; // a TCP port, not a pipe

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    }, drainSeconds * 1000);
    await drain.close(drainSeconds * 1000);
    clearTimeout(cut);
  };
  return {
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close: () => (closed ??= close()),
  };
}
