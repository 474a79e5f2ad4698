import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { answerClientError, refuseHostless } from "./sockets/client-error.ts";
import { createDrain } from "./drain.ts";
import { createInOrder } from "./sockets/in-order.ts";

export interface Listener {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Handles WebSocket upgrades. Without it they are ordinary requests. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** In milliseconds. */
export interface Timeouts {
  /** For the headers of a request. */
  headers: number;
  /** For the whole request. */
  request: number;
  /** Without traffic on a connection with a request: the client does not read the response. */
  idle: number;
}

export interface ServeOptions {
  host: string;
  /** 0 picks a free port. */
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
   * Stops listening, lets requests in flight finish and closes idle connections. Upgraded
   * connections belong to their handler. Cuts all remaining connections after the drain period.
   */
  close(): Promise<void>;
}

const defaultTimeouts: Timeouts = { headers: 10_000, request: 120_000, idle: 120_000 };
const longestCheckMilliseconds = 1_000;
// Longer than the keep-alive of proxies, so that no connection closes under a request in flight.
const keepAliveMilliseconds = 75_000;
const headerBytes = 16 * 1024;

/**
 * Listens for HTTP/1.1 requests. The listener gets those of a connection one after another.
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
    // Other upgrades (h2c) are declined with an ordinary response.
    shouldUpgradeCallback: ({ headers }) => upgrade !== undefined && headers.upgrade?.toLowerCase() === "websocket",
  });
  server.setTimeout(timeouts.idle);
  const drain = createDrain(server);
  const upgraded = new Set<Duplex>();

  const inOrder = createInOrder((request, response) => {
    drain.note(response);
    if (!refuseHostless(request, response)) listener(request, response);
  });
  server.on("request", inOrder.request);
  // Node would send 100 Continue at once; here the reader of the body sends it.
  server.on("checkContinue", inOrder.request);
  server.on("checkExpectation", inOrder.request);
  server.on("clientError", answerClientError);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    drain.leave(socket);
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    // The responses before it would be written between its messages.
    if (inOrder.isBusy(socket)) socket.destroy();
    else upgrade?.(request, socket, head);
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
