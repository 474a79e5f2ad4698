import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { promisify } from "node:util";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { anyone, route, type Upgrade, type UpgradeRoute } from "../src/index.ts";
import { openRaw, sendRaw } from "./raw.ts";
import { rows } from "./rows.ts";
import { startApp } from "./start-app.ts";

/** Accepts unless the query refuses, and echoes messages. */
const echoing: UpgradeRoute<object> = {
  path: "/api/sync/ws",
  bucket: "strict",
  run: (_deps, { socket, head, headers, query, request }: Upgrade) => {
    if (query["token"] === "bad") throw new ServiceError("invalid_token", "the token is not valid");
    if (query["token"] === "bug") throw new TypeError("secret-detail");
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n${request.ip} `,
    );
    socket.write(head);
    socket.pipe(socket);
    return Promise.resolve();
  },
};

const app = await startApp(t, rows, { upgrades: [echoing] });
let addresses = 0;
const freshAddress = (): string => `203.0.113.${++addresses}`;
const upgrade = (path: string, from: string, protocol = "websocket"): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nX-Request-Id: up-1\r\nX-Forwarded-For: ${from}\r\n\r\n`;

await t.test("an upgrade is given to its route, which takes the socket over", async (t) => {
  const from = freshAddress();
  const connection = await openRaw(t, app.port);
  connection.socket.write(upgrade("/api/sync/ws?token=good", from) + "first");
  await connection.until(new RegExp(`^HTTP/1\\.1 101 [^]*${from} first$`));
  connection.socket.write(" second");
  const text = await connection.until(/second$/);
  t.match(text, /^X-Request-Id: up-1\r$/m);
  t.match(text, /^RateLimit: "strict";r=4;t=60\r$/m);
  t.match(text, /^RateLimit-Policy: "strict";q=5;w=60\r$/m);
});

await t.test("a malformed query is left to the route", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(upgrade("/api/sync/ws?token=%ff&other=%zz", freshAddress()));
  await connection.until(/^HTTP\/1\.1 101 /);
});

await t.test("a refusal is an ordinary answer", async (t) => {
  const text = await sendRaw(t, app.port, upgrade("/api/sync/ws?token=bad", freshAddress()));
  t.match(text, /^HTTP\/1\.1 401 Unauthorized\r\n/);
  for (const header of [
    "WWW-Authenticate: Bearer",
    "X-Request-Id: up-1",
    "Connection: close",
    "Cache-Control: no-store",
    'RateLimit: "strict";r=4;t=60',
  ])
    t.match(text, `\r\n${header}\r\n`);
  t.match(text, /\{"error":"invalid_token","message":"the token is not valid","request_id":"up-1"\}$/);
});

await t.test("upgrades are limited", async (t) => {
  const from = freshAddress();
  for (let i = 0; i < 5; i++)
    t.match(await sendRaw(t, app.port, upgrade("/api/sync/ws?token=bad", from)), /^HTTP\/1\.1 401 /);
  const text = await sendRaw(t, app.port, upgrade("/api/sync/ws?token=good", from));
  t.match(text, /^HTTP\/1\.1 429 [^]*\r\nRetry-After: (60|5\d)\r\n[^]*"rate_limited"/);
});

await t.test("a refused client cannot hold the connection with a half-open socket", async (t) => {
  const server = createServer().on("upgrade", app.app.upgrade).listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP port, not a pipe
  const connections = promisify(server.getConnections.bind(server));
  const from = freshAddress();
  for (let i = 0; i < 10; i++) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    socket.on("error", () => undefined).resume();
    socket.write(upgrade("/api/sync/ws?token=bad", from)); // the limiter refuses the sixth and all after it
    await once(socket, "end");
    if (i % 2 === 0) socket.end("late");
  }
  const deadline = performance.now() + 5_000;
  while ((await connections()) > 0 && performance.now() < deadline) await new Promise(setImmediate);
  t.equal(await connections(), 0);
});

await t.test("other routes do not upgrade", async (t) => {
  t.match(
    await sendRaw(t, app.port, upgrade("/api/things", freshAddress())),
    /^HTTP\/1\.1 404 [^]*RateLimit: "user"[^]*"not_found"/,
  );
  t.match(await sendRaw(t, app.port, upgrade("/other", freshAddress())), /^HTTP\/1\.1 404 [^]*"not_found"/);
});

await t.test("a bug is 500 without detail", async (t) => {
  const text = await sendRaw(t, app.port, upgrade("/api/sync/ws?token=bug", freshAddress()));
  t.match(text, /^HTTP\/1\.1 500 [^]*"internal_error"/);
  t.notMatch(text, /secret-detail/);
  t.match(app.logged(), /secret-detail/);
});

await t.test("an offer of another protocol than a WebSocket is declined by answering the request", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(upgrade("/api/things", freshAddress(), "h2c"));
  t.match(await connection.until(/\}$/), /^HTTP\/1\.1 200 OK\r\n/);
});

await t.test("a socket that breaks during an upgrade is ignored", async (t) => {
  for (let i = 0; i < 20; i++) {
    const connection = await openRaw(t, app.port);
    connection.socket.write(upgrade("/api/sync/ws?token=good", `198.51.100.${i}`));
    connection.socket.resetAndDestroy();
  }
  t.equal((await fetch(`${app.url}/api/things`)).status, 200);
});

/** A route without an answer. */
const silentRow = route({
  ...({ method: "GET", path: "/api/silent", bucket: "user", caller: anyone, status: 200 } as const),
  run: () => new Promise<never>(() => undefined),
});

await t.test("an upgraded connection may be silent for longer than one with a request", async (t) => {
  const timeouts = { headers: 1_000, request: 1_000, idle: 1_000 };
  const app = await startApp(t, [silentRow], { upgrades: [echoing], timeouts });
  const connection = await openRaw(t, app.port);
  connection.socket.write(upgrade("/api/sync/ws?token=good", freshAddress()));
  await connection.until(/101/);
  // Five that are silent one after another until they are cut.
  for (let i = 0; i < 5; i++) t.equal(await sendRaw(t, app.port, "GET /api/silent HTTP/1.1\r\nHost: x\r\n\r\n"), "");
  connection.socket.write("still here");
  await connection.until(/still here$/);
});

await t.test("at the end upgraded connections have the drain period, and are then cut", async (t) => {
  const app = await startApp(t, rows, { upgrades: [echoing], drainSeconds: 2 });
  const connection = await openRaw(t, app.port);
  connection.socket.write(upgrade("/api/sync/ws?token=good", freshAddress()));
  await connection.until(/101/);
  const idle = await openRaw(t, app.port);
  idle.socket.write("GET /api/things HTTP/1.1\r\nHost: x\r\n\r\n");
  await idle.until(/\}$/);
  const started = performance.now();
  const closed = app.close();
  await idle.ended();
  connection.socket.write("still here");
  await connection.until(/still here$/);
  await connection.ended();
  t.ok(performance.now() - started >= 1_990, "timers may be a moment early");
  await closed;
});
