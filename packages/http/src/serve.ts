import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { answerClientError } from "./client-error.ts";

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
   * Takes no more connections, lets requests in flight finish, closes connections as they become idle, and cuts what is
   * left, upgraded connections too, after the drain period.
   */
  close(): Promise<void>;
}

const defaultTimeouts: Timeouts = { headers: 10_000, request: 120_000, idle: 120_000 };
const longestCheckMilliseconds = 1_000;
// Longer than proxies keep an idle connection, so that none is closed under a request on its way.
const keepAliveMilliseconds = 75_000;
const headerBytes = 16 * 1024;
// At the end, for a request that is already on its way on an idle connection.
const idleGraceMilliseconds = 250;

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
    // Anything else that a client offers to change to (h2c) is declined by answering the request.
    shouldUpgradeCallback: ({ headers }) => upgrade !== undefined && headers.upgrade?.toLowerCase() === "websocket",
  });
  server.setTimeout(timeouts.idle);
  const inFlight = new Set<ServerResponse>();
  const upgraded = new Set<Duplex>();
  let draining = false;

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    if (draining) response.shouldKeepAlive = false;
    inFlight.add(response);
    response.on("close", () => inFlight.delete(response));
    listener(request, response);
  };
  server.on("request", take);
  // Node would say 100 Continue before anybody has looked at the request; whoever reads the body says it.
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  server.on("clientError", answerClientError);
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.setTimeout(0);
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    upgrade?.(request, socket, head);
  });

  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo; // a TCP port, not a pipe

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    draining = true;
    for (const response of inFlight) response.shouldKeepAlive = false;
    const cut = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    }, drainSeconds * 1000);
    await stopListening(server, Math.min(idleGraceMilliseconds, drainSeconds * 1000));
    clearTimeout(cut);
  };
  return {
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close: () => (closed ??= close()),
  };
}

/** Resolves when the last connection is closed; idle ones are closed after `graceMilliseconds`. */
async function stopListening(server: Server, graceMilliseconds: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server);
  // close() calls this at once.
  server.closeIdleConnections = () => undefined;
  const idle = setTimeout(closeIdle, graceMilliseconds);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(idle);
}
