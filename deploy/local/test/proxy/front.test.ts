import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import t from "tap";
import { openFront } from "../../src/services/front.ts";
import { allServices } from "../../src/services/services.ts";

const origin = "https://vault.example";
const corsOrigins = () => [origin];

await t.test("a request without a service gets the usual error body, also in browsers", async (t) => {
  const front = await openFront({ host: "127.0.0.1", port: 0, drainSeconds: 1, rows: allServices, corsOrigins });
  t.teardown(() => front.close());
  const request = (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    fetch(front.url + path, { ...init, headers: { origin, "x-request-id": "abc", ...headers } });

  const starting = await request("/api/vaults", { method: "POST", body: "x".repeat(200_000) });
  t.match(await starting.json(), { error: "unavailable", message: String, request_id: "abc" });
  t.equal(starting.status, 503);
  t.match(Object.fromEntries(starting.headers), {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": /Retry-After/,
    "cache-control": "no-store",
    "content-type": "application/json; charset=utf-8",
    "retry-after": "1",
    vary: "Origin",
    "x-content-type-options": "nosniff",
    "x-request-id": "abc",
  });
  const permission = await request("/api/vaults", { method: "OPTIONS" }, { "access-control-request-method": "POST" });
  t.equal(permission.status, 204);
  t.match(permission.headers.get("access-control-allow-methods"), "POST");

  front.use(new Map(), "https://vault.example");
  const nothing = await request("/nothing");
  t.equal(nothing.status, 404);
  t.match(await nothing.json(), { error: "not_found", request_id: "abc" });
  t.equal(nothing.headers.get("access-control-allow-origin"), origin);
  const foreign = await request("/nothing", {}, { origin: "https://elsewhere.example" });
  t.equal(foreign.headers.get("access-control-allow-origin"), null);
});

await t.test("while connections drain, one that changed its protocol stays until the end", async (t) => {
  const front = await openFront({ host: "127.0.0.1", port: 0, drainSeconds: 60, rows: allServices, corsOrigins });
  t.teardown(() => front.close());
  const target = {
    request: (_request: unknown, response: ServerResponse) => void response.end("done"),
    upgrade: (_request: unknown, socket: NodeJS.ReadWriteStream) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      socket.pipe(socket);
    },
  };
  front.use(new Map([["sync", target]]), front.url);
  const socket = connect(front.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("GET /api/sync/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await once(socket, "data");
  const idle = connect(front.port, "127.0.0.1");
  idle.write("GET /api/sync/ws HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(idle, "data");
  const idleEnd = once(idle, "close");
  await front.drain(60);
  await idleEnd;
  socket.write("still here");
  t.equal(String((await once(socket, "data"))[0]), "still here");
  await front.close();
  if (!socket.closed) await once(socket, "close");
});
