import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, RequestListener, RequestOptions, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import t from "tap";
import { createRefusals, routerSecretHeader, serve } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { createProxy } from "../src/proxy.ts";

const secret = "the secret of this start";

interface Pair {
  /** The port of the router. */
  port: number;
  backend: Server;
  /** Makes the service unreachable, and reachable again. */
  setDown(down: boolean): void;
}

/** A service behind a router, each on a port of its own. */
async function pair(t: Tap, listener: RequestListener, trusted: string[] = []): Promise<Pair> {
  const backend = createServer(listener).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = backend.address() as AddressInfo;
  let down = false;
  const target = createProxy({
    address: () => (down ? null : { host: "127.0.0.1", port }),
    trustedProxies: parseTrustedProxies(trusted),
    secret,
    refusals: createRefusals(["https://vault.example"]),
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
type Tap = Pick<typeof t, "teardown">;

/** One request; the answer with its body read. */
async function ask(port: number, options: RequestOptions = {}, body = "") {
  const request = httpRequest({ host: "127.0.0.1", port, agent: false, ...options });
  request.end(Buffer.from(body));
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, raw: answer.rawHeaders, body: await text(answer) };
}

/** What the service saw, as its answer. */
const echo: RequestListener = (request, response) => {
  void text(request).then((body) => {
    response.writeHead(207, "Seen", ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Hop", "no", "Connection", "X-Hop"]);
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body }));
  });
};

interface Seen {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

await t.test("method, path, query, headers, body and answer go through as they are", async (t) => {
  const { port } = await pair(t, echo);
  const headers = { "X-Custom": "ä", Authorization: "Bearer x" };
  const answer = await ask(port, { method: "PUT", path: "/api/x?a=%2F&b", headers }, "body");
  const seen = JSON.parse(answer.body) as Seen;
  t.match(seen, { method: "PUT", url: "/api/x?a=%2F&b", body: "body" });
  t.match(seen.headers, { "x-custom": "ä", authorization: "Bearer x", host: `127.0.0.1:${port}` });
  t.equal(answer.status, 207);
  t.same(answer.headers["set-cookie"], ["a=1", "b=2"]);
  t.equal(answer.headers["x-hop"], undefined, "a header that Connection names is for one hop only");
});

const bodies: [string, RequestOptions, string][] = [
  ["a POST without a body", { method: "POST" }, ""],
  ["a DELETE with a body in chunks", { method: "DELETE", headers: { "Transfer-Encoding": "chunked" } }, "gone"],
  ["a GET with a body in chunks", { method: "GET", headers: { "Transfer-Encoding": "chunked" } }, "odd"],
  ["a POST with a length", { method: "POST", headers: { "Content-Length": "4" } }, "four"],
];
for (const [what, options, body] of bodies) {
  await t.test(`${what} keeps its frame, and the connection its order`, async (t) => {
    const { port } = await pair(t, echo);
    for (let round = 1; round <= 2; round += 1) {
      const seen = JSON.parse((await ask(port, options, body)).body) as Seen;
      t.equal(seen.body, body);
      t.equal(seen.method, options.method);
    }
  });
}

const smuggled = "GET /api/smuggled HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n";
const framed = `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
const frames: [string, string][] = [
  ["a length that Connection names", `Connection: keep-alive, Content-Length\r\n${framed}`],
  ["a length named in a Connection of its own", `Connection: keep-alive\r\nConnection: content-length\r\n${framed}`],
  [
    "chunks that Connection names",
    "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  ],
  ["a body after a request to change protocols", `Connection: Upgrade\r\nUpgrade: websocket\r\n${framed}`],
  [
    "a length without the body after a request to change protocols",
    `Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${smuggled.length}\r\n\r\n`,
  ],
];
for (const method of ["GET", "HEAD", "DELETE", "OPTIONS", "POST"]) {
  for (const [what, rest] of frames) {
    await t.test(`${method} with ${what} is one request at the service, and the next is whole`, async (t) => {
      const seen: (string | undefined)[] = [];
      const { port } = await pair(t, (request, response) => {
        seen.push(`${request.method ?? ""} ${request.url ?? ""} ${String(request.headers[routerSecretHeader])}`);
        // As a service that answers before it looks at a body.
        response.end("seen");
        request.resume();
      });
      const socket = connect(port, "127.0.0.1");
      t.teardown(() => socket.destroy());
      socket.write(`${method} /api/first HTTP/1.1\r\nHost: x\r\n${rest}`);
      await once(socket, "data");
      t.equal((await ask(port, { path: "/api/second" })).body, "seen");
      t.same(seen, [`${method} /api/first ${secret}`, `GET /api/second ${secret}`]);
    });
  }
}

await t.test("Connection takes neither the host nor the authorization from a request", async (t) => {
  const { port } = await pair(t, echo);
  const headers = { Connection: "Host, Authorization, X-Hop", Authorization: "Bearer x", "X-Hop": "1" };
  const seen = JSON.parse((await ask(port, { headers })).body) as Seen;
  t.match(seen.headers, { host: `127.0.0.1:${port}`, authorization: "Bearer x" });
  t.equal(seen.headers["x-hop"], undefined);
});

await t.test("an upgrade that is answered as an ordinary request has an answer that can be read", async (t) => {
  const { port } = await pair(t, (_request, response) => {
    response.write("in ");
    response.end("chunks");
  });
  const { socket, said } = await upgrade(port, "");
  if (!socket.closed) await once(socket, "close");
  t.match(said(), /^HTTP\/1.1 200 OK\r\n.*Connection: close\r\n\r\nin chunks$/s);
  t.notMatch(said(), /transfer-encoding/i);
});

await t.test("the source address is decided here, whatever a caller says", async (t) => {
  const { port } = await pair(t, echo);
  const headers = {
    "X-Forwarded-For": "1.2.3.4",
    Forwarded: "for=1.2.3.4",
    "X-Real-IP": "1.2.3.4",
    [routerSecretHeader]: "guess",
  };
  const seen = JSON.parse((await ask(port, { headers })).body) as Seen;
  t.match(seen.headers, { "x-forwarded-for": "127.0.0.1", [routerSecretHeader]: secret });
  t.equal(seen.headers["forwarded"], undefined);
  t.equal(seen.headers["x-real-ip"], undefined);
});

await t.test("a trusted proxy in front is believed, as far as it can be", async (t) => {
  const { port } = await pair(t, echo, ["127.0.0.0/8", "10.0.0.0/8"]);
  const headers = { "X-Forwarded-For": "9.9.9.9, 1.2.3.4, 10.0.0.7" };
  const seen = JSON.parse((await ask(port, { headers })).body) as Seen;
  t.equal(seen.headers["x-forwarded-for"], "1.2.3.4");
});

await t.test("a body streams: the service answers its beginning before the end is sent", async (t) => {
  const { port } = await pair(t, (request, response) => request.pipe(response));
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", agent: false });
  request.write("first");
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  const [chunk] = (await once(answer, "data")) as [Buffer];
  t.equal(chunk.toString(), "first");
  request.end("last");
  t.equal(await text(answer), "last");
});

await t.test("who waits for 100 Continue gets it from the service", async (t) => {
  const { port } = await pair(t, echo);
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    method: "POST",
    agent: false,
    headers: { Expect: "100-continue" },
  });
  request.flushHeaders();
  await once(request, "continue");
  request.end("body");
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  t.equal((JSON.parse(await text(answer)) as Seen).body, "body");
});

await t.test("a service that is away is 503 with Retry-After, and comes back by itself", async (t) => {
  const { port, backend, setDown } = await pair(t, echo);
  const expected = { error: "unavailable", request_id: "abc", message: String };
  setDown(true);
  const starting = await ask(port, { headers: { "X-Request-Id": "abc" } });
  t.match(starting, { status: 503, headers: { "retry-after": "1", "cache-control": "no-store" } });
  t.match(JSON.parse(starting.body), expected);
  setDown(false);
  t.equal((await ask(port)).status, 207);
  backend.closeAllConnections();
  backend.close();
  await once(backend, "close");
  const gone = await ask(port, { method: "POST" }, "body");
  t.equal(gone.status, 503);
});

await t.test("an answer that breaks off is broken off, not completed", async (t) => {
  const { port } = await pair(t, (_request, response) => {
    response.writeHead(200, { "Content-Length": "100" });
    response.write("part", () => response.destroy());
  });
  const request = httpRequest({ host: "127.0.0.1", port, agent: false });
  request.end();
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  await t.rejects(text(answer), { code: "ECONNRESET" });
});

await t.test("a caller that goes away takes its request with it", async (t) => {
  const gone = Promise.withResolvers<undefined>();
  const { port } = await pair(t, (request, response) => {
    response.once("close", () => gone.resolve(undefined));
    request.resume();
    response.write("begun");
  });
  const request = httpRequest({ host: "127.0.0.1", port, agent: false });
  request.on("error", () => undefined);
  request.end();
  await once(request, "response");
  request.destroy();
  await t.resolves(gone.promise);
});

/** Asks for another protocol and returns the socket with what has been said so far. */
async function upgrade(
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

await t.test("a connection that changes its protocol streams both ways and ends on both sides", async (t) => {
  const { port, backend } = await pair(t, echo);
  const ended = Promise.withResolvers<IncomingMessage>();
  backend.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Mine: 1\r\n\r\nhello ",
    );
    socket.on("data", (chunk) => socket.write(String(chunk).toUpperCase()));
    socket.on("end", () => ended.resolve(request));
    socket.on("end", () => socket.end());
    socket.on("error", () => undefined);
  });
  const { socket, said } = await upgrade(port, "Sec-WebSocket-Key: k\r\nX-Forwarded-For: 1.2.3.4\r\n");
  while (!said().endsWith("hello ")) await once(socket, "data");
  socket.write("across");
  while (!said().endsWith("ACROSS")) await once(socket, "data");
  t.match(said(), /^HTTP\/1.1 101 Switching Protocols\r\n.*X-Mine: 1\r\n/s);
  socket.destroy();
  const { headers } = await ended.promise;
  t.match(headers, {
    upgrade: "websocket",
    "sec-websocket-key": "k",
    "x-forwarded-for": "127.0.0.1",
    [routerSecretHeader]: secret,
  });
});

await t.test("an upgrade that the service refuses is refused with its answer", async (t) => {
  const { port, backend } = await pair(t, echo);
  backend.on("upgrade", (_request: IncomingMessage, socket: Duplex) => {
    socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope");
  });
  const { socket, said } = await upgrade(port, "");
  if (!socket.closed) await once(socket, "close");
  t.match(said(), /^HTTP\/1.1 401 Unauthorized\r\n.*nope$/s);
});

await t.test("an upgrade while the service is away is 503", async (t) => {
  const { port, setDown } = await pair(t, echo);
  setDown(true);
  const { socket, said } = await upgrade(port, "");
  if (!socket.closed) await once(socket, "close");
  t.match(said(), /^HTTP\/1.1 503 Service Unavailable\r\n.*Retry-After: 1\r\n.*"unavailable"/s);
});

await t.test("a refused upgrade ends its connection, whatever the caller does with its side", async (t) => {
  for (const away of [true, false]) {
    const backend = createServer().listen(0, "127.0.0.1");
    await once(backend, "listening");
    backend.on("upgrade", (_request: IncomingMessage, socket: Duplex) => {
      socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope");
    });
    const { port } = backend.address() as AddressInfo;
    const address = () => (away ? null : { host: "127.0.0.1", port });
    const target = createProxy({
      address,
      trustedProxies: parseTrustedProxies([]),
      secret,
      refusals: createRefusals([]),
    });
    const router = createServer().on("upgrade", target.upgrade).listen(0, "127.0.0.1");
    t.teardown(() => [router, backend].map((server) => server.close()));
    await once(router, "listening");
    const connections = promisify(router.getConnections.bind(router));
    for (let i = 0; i < 4; i += 1) {
      const { socket, said } = await upgrade((router.address() as AddressInfo).port, "", true);
      t.teardown(() => socket.destroy());
      if (!socket.readableEnded) await once(socket, "end");
      t.match(said(), away ? /^HTTP\/1.1 503 .*"unavailable"/s : /^HTTP\/1.1 401 .*nope$/s);
      if (i % 2 === 0) socket.end("late");
    }
    const deadline = performance.now() + 5_000;
    while ((await connections()) > 0 && performance.now() < deadline) await new Promise(setImmediate);
    t.equal(await connections(), 0);
  }
});
