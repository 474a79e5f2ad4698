import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import t from "tap";
import { createRefusals, routerSecretHeader } from "@coffer/http";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { createProxy } from "../../src/services/proxy.ts";
import { answerLimits, echo, pair, secret, upgrade } from "../proxied-service.ts";

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

await t.test("a refused upgrade ends its connection, also with a half-open caller", async (t) => {
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
      answerLimits,
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
