import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { answerClientError } from "./client-error.ts";

export interface Listener {
  (request: IncomingMessage, response: ServerResponse): void;
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface ServeOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** How long `close` waits for requests in flight before it cuts them. */
  drainSeconds: number;
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  /** Stops taking connections, lets requests in flight finish, closes connections as they become idle. */
  close(): Promise<void>;
}

// A caller that sends nothing, or a byte now and then, does not hold a connection for longer than this.
const headersMilliseconds = 10_000;
const requestMilliseconds = 120_000;
const checkMilliseconds = 1_000;
// Longer than proxies keep an idle connection, so that it is never closed under a request on its way.
const keepAliveMilliseconds = 75_000;
const headerBytes = 16 * 1024;
const idleGraceMilliseconds = 250;

/**
 * Listens for HTTP/1.1 requests.
 * @throws what `listen` throws, for example with code EADDRINUSE.
 */
export async function serve(listener: Listener, { host, port, drainSeconds }: ServeOptions): Promise<Serving> {
  const server = createServer({
    headersTimeout: headersMilliseconds,
    requestTimeout: requestMilliseconds,
    connectionsCheckingInterval: checkMilliseconds,
    keepAliveTimeout: keepAliveMilliseconds,
    maxHeaderSize: headerBytes,
  });
  const inFlight = new Set<ServerResponse>();
  let draining = false;

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    if (draining) response.shouldKeepAlive = false;
    inFlight.add(response);
    response.on("close", () => inFlight.delete(response));
    listener(request, response);
  };
  server.on("request", take);
  // Node would say 100 Continue before anybody has looked at the request; the reader of the body says it.
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  server.on("clientError", answerClientError);
  const { upgrade } = listener;
  if (upgrade !== undefined) server.on("upgrade", upgrade);

  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo; // a TCP port, not a pipe

  return {
    url: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close: async () => {
      draining = true;
      for (const response of inFlight) response.shouldKeepAlive = false;
      await drain(server, drainSeconds * 1000);
    },
  };
}

async function drain(server: Server, milliseconds: number): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server);
  // close() calls this at once. A request that is on its way on an idle connection is answered first.
  server.closeIdleConnections = () => undefined;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setTimeout(
    () => {
      server.closeIdleConnections = closeIdle;
      closeIdle();
    },
    Math.min(idleGraceMilliseconds, milliseconds),
  );
  const cut = setTimeout(() => server.closeAllConnections(), milliseconds);
  await closed;
  clearTimeout(idle);
  clearTimeout(cut);
}
