import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
  type RequestOptions,
  type Server,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createMemoryLimits, createRefusals, serve } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { createTelemetry } from "@coffer/telemetry";
import type { TestScope } from "@coffer/testkit";
import { createProxy } from "../src/services/proxy.ts";

/** Identifies the router to the service. */
export const secret = "the secret of this start";

/** The memory for answers, which all routers of this process share. */
export const answerLimits = createMemoryLimits(createTelemetry({ service: "test" }));

/** A router and its service. */
export interface Pair {
  /** The port of the router. */
  port: number;
  backend: Server;
  /** Makes the service unreachable, and reachable again. */
  setDown(down: boolean): void;
}

/** A service behind a router, each on its own port. */
export async function pair(t: TestScope, listener: RequestListener, trusted: string[] = []): Promise<Pair> {
  const backend = createServer(listener).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = backend.address() as AddressInfo;
  let down = false;
  const target = createProxy({
    address: () => (down ? null : { host: "127.0.0.1", port }),
    trustedProxies: parseTrustedProxies(trusted),
    secret,
    refusals: createRefusals(["https://vault.example"]),
    answerLimits,
  });
  const router = Object.assign(target.request, { upgrade: target.upgrade });
  const serving = await serve(router, { host: "127.0.0.1", port: 0, drainSeconds: 0 });
  t.teardown(async () => {
    await serving.close();
    backend.closeAllConnections();
    backend.close();
  });
  return { port: serving.port, backend, setDown: (value) => (down = value) };
}

/** One request; the response with its body. */
export async function request(port: number, options: RequestOptions = {}, body = "") {
  const request = httpRequest({ host: "127.0.0.1", port, agent: false, ...options });
  request.end(Buffer.from(body));
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, raw: answer.rawHeaders, body: await text(answer) };
}

/** The request as the service saw it, as its response. */
export const echo: RequestListener = (request, response) => {
  void text(request).then((body) => {
    response.writeHead(207, "Seen", ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Hop", "no", "Connection", "X-Hop"]);
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body }));
  });
};

/** The response of `echo`. */
export interface Seen {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Requests another protocol and returns the socket with the received text. */
export async function upgrade(
  port: number,
  headers: string,
  allowHalfOpen = false,
): Promise<{ socket: Socket; said: () => string }> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen });
  let all = "";
  socket.on("data", (chunk) => (all += chunk.toString()));
  socket.write(`GET /api/sync/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`);
  await once(socket, "data");
  return { socket, said: () => all };
}
