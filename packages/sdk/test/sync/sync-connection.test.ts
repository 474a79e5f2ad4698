import { until } from "@coffer/testkit";
import t from "tap";
import { watchPings } from "../../src/sync/watch-pings.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json } from "../server/server.ts";
import { newDevice, world } from "../server/synced-device.ts";
import { startVaultServer } from "../server/vault-server.ts";

await t.test("logout closes, says so, and leaves nothing in the storage", async (t) => {
  const { server } = await world(t);
  const { storage, text } = memoryStorage();
  const first = await newDevice(t, server, { storage });
  await first.sync.ready;
  await first.sync.stop();
  t.not(text(), "");
  const { sync } = await newDevice(t, server, { storage });
  await sync.ready;
  server.push({ type: "push", action: "logout", session_id: "s", reason: "admin_revoked" });
  await t.rejects(sync.ended, { code: "invalid_token", message: /admin_revoked/ });
  t.equal(text(), "");
  await until("the connection is closed", () => server.sockets.size === 0);
});

await t.test("a token that has ended is replaced at once; a session that has, ends the sync", async (t) => {
  const { server } = await world(t);
  const { sync, away } = await newDevice(t, server);
  await sync.ready;
  for (const socket of server.sockets) socket.close(4001);
  await until("it is back", () => server.asked.length === 2);
  t.match(server.offered[1], /bearer\.access-\d{1,}/);
  t.not(server.offered[1], server.offered[0]);
  t.same(away, []);
  server.instead.http = ({ path }, response) => {
    if (path !== "/api/auth/refresh") return false;
    json(response, 401, { error: "token_reused", message: "used" });
    return true;
  };
  for (const socket of server.sockets) socket.close(4001);
  await t.rejects(sync.ended, { code: "token_reused" });
});

await t.test("shortly before its token ends, the device renews it and connects again", async (t) => {
  const { server } = await world(t);
  const soon = { ...server.session, access_expires_at: Date.now() / 1000 + 33 };
  const { sync, away } = await newDevice(t, { ...server, session: soon });
  await sync.ready;
  await until("it has connected anew", () => server.asked.length === 2);
  t.not(server.offered[1], server.offered[0]);
  t.same(away, []);
});

await t.test("a token that is due for renewal before the connection is open costs no wait", async (t) => {
  const { server } = await world(t);
  const dueAt = Date.now() + 3_000;
  const due = { ...server.session, access_expires_at: dueAt / 1000 + 30 };
  /** The network takes its time for the first: until after that. */
  class SlowWebSocket {
    readonly #socket: WebSocket;
    constructor(url: string, protocols: string[]) {
      this.#socket = new WebSocket(url, protocols);
    }
    send(text: string): void {
      this.#socket.send(text);
    }
    close(code?: number): void {
      this.#socket.close(code);
    }
    addEventListener(type: string, listener: (event: never) => void): void {
      const hear = listener as (event: Event) => void; // the platform gives each type the event that it is for
      const late = type === "open" && server.offered.length === 0;
      this.#socket.addEventListener(
        type,
        late ? (event) => setTimeout(hear, Math.max(1, dueAt + 100 - Date.now()), event) : hear,
      );
    }
  }
  const { sync, away } = await newDevice(t, { ...server, session: due }, { webSocket: SlowWebSocket });
  await sync.ready;
  await until("it has connected anew", () => server.asked.length === 2);
  t.same(away, []);
});

await t.test("waits double from one second and restart only after an answer", async (t) => {
  const { server } = await world(t);
  // A service without its bus takes the connection and closes it.
  server.instead.sync = (_asked, socket) => (socket.close(1013), true);
  const { sync, away } = await newDevice(t, server);
  await until("it has failed twice", () => away.length === 2);
  t.same(away, [1, 2]);
  delete server.instead.sync;
  await sync.ready;
  for (const socket of server.sockets) socket.terminate();
  await until("it has failed again", () => away.length === 3);
  t.equal(away[2], 1);
});

await t.test("a device that is closed because there are too many connections waits about five minutes", async (t) => {
  const { server } = await world(t);
  const { sync, away } = await newDevice(t, server);
  await sync.ready;
  for (const socket of server.sockets) socket.close(1008);
  await until("it is away", () => away.length === 1);
  // Before its first answer too.
  server.instead.sync = (_asked, socket) => (socket.close(1008), true);
  const other = await newDevice(t, server);
  await until("it is away", () => other.away.length === 1);
  for (const seconds of [...away, ...other.away]) t.ok(seconds >= 240 && seconds <= 360, `${seconds} s`);
  t.equal(server.offered.length, 2, "nothing has connected again");
});

await t.test("a silent service gets a ping; a page that never comes is requested smaller", async (t) => {
  const { server } = await world(t);
  const { sync } = await newDevice(t, server, { quietSeconds: 0.05 });
  await sync.ready;
  await until("it is asked", () => server.asked.length > 2);
  server.instead.sync = (_asked, socket) => (socket.terminate(), true);
  await until("a page is smaller", () => (server.asked.at(-1)?.limit ?? 1000) < 1000);
  t.equal(server.asked.at(-1)?.limit, 250);
  delete server.instead.sync;
});

await t.test("pings are heard in Node, each by its own connection", async (t) => {
  const server = await startVaultServer(t);
  const heard: string[] = [];
  const sockets = ["first", "second"].map((name) => {
    const socket = new WebSocket(server.url.replace("http", "ws"));
    const unhear = watchPings(socket, () => heard.push(name));
    t.type(unhear, "function");
    t.teardown(() => unhear?.());
    return socket;
  });
  await until("both are open", () => server.sockets.size === 2);
  for (const socket of server.sockets) socket.ping();
  await until("each has heard", () => heard.length === 2);
  t.same(heard.sort(), ["first", "second"]);
  for (const socket of sockets) socket.close();
});

await t.test("a malformed message, or a refusal, is a reason to reconnect, not to end", async (t) => {
  const { server } = await world(t);
  const words: string[] = [];
  const { sync } = await newDevice(t, server, { onAway: ({ message, code }) => words.push(`${code}: ${message}`) });
  await sync.ready;
  server.push({ type: "weather" });
  server.push({ type: "error", error: "invalid_request", message: "last_sync is no timestamp" });
  await until("it is said", () => words.length === 1);
  t.same(words, ["invalid_request: last_sync is no timestamp"]);
  await until("it asks for everything", () => server.asked.length === 2);
  t.notOk(server.asked[1]?.last_sync);
});

await t.test("a device that must retry later does, with the same request, on the same connection", async (t) => {
  const { server } = await world(t, 2);
  let connections = 0;
  const refusal = { type: "error", error: "rate_limited", message: "too often", retry_after: 1e-9 };
  const times: number[] = [];
  server.instead.sync = (asked, socket) => {
    times.push(performance.now());
    connections = Math.max(connections, server.sockets.size);
    if (server.asked.length > 2) return false;
    socket.send(JSON.stringify(server.asked.length === 1 ? { ...server.answer(asked), has_more: true } : refusal));
    return true;
  };
  const { sync, away, said } = await newDevice(t, server);
  await sync.ready;
  t.ok(server.asked[1]?.last_sync, "the second page was refused");
  t.same(server.asked.slice(2), [server.asked[1]]);
  t.same([away, connections], [[], 1]);
  // The margin is for timers that are early.
  t.ok((times[2] ?? 0) - (times[1] ?? 0) > 900, "a second is the shortest wait");
  t.ok(
    said().some((one) => one.endsWith("item 0")),
    "what came before the refusal stays",
  );
});

await t.test("pages that bring nothing and go on nowhere are no answer", async (t) => {
  const { server } = await world(t);
  const nothing = { type: "sync_response", changes: [], deleted: [], has_more: true, reset: false };
  server.instead.sync = (asked, socket) => {
    const page = { ...nothing, server_time: "2026-01-01T00:00:00.000Z" };
    socket.send(JSON.stringify(asked.last_sync === undefined ? server.answer(asked) : page));
    return true;
  };
  const { sync, away } = await newDevice(t, server);
  await sync.ready;
  for (const socket of server.sockets) socket.close(1012);
  await until("the device waits before it asks again", () => away.length === 2);
  // The first page has another time than the device, the second has the same.
  t.equal(server.asked.length, 3);
});

await t.test("a listener that fails ends the sync with what it threw", async (t) => {
  const { server } = await world(t);
  const failing = (): never => {
    throw new RangeError("listener");
  };
  const { sync } = await newDevice(t, server, { onChange: failing });
  await t.rejects(sync.ended, { name: "RangeError" });
  await t.rejects(sync.ready, { name: "RangeError" });
});

await t.test("without a WebSocket, as in Node 20, it is said what is missing", async (t) => {
  const { server } = await world(t);
  t.intercept(globalThis, "WebSocket", { value: undefined });
  await t.rejects(newDevice(t, server), { code: "configuration", message: /Node has it from 22 on/ });
});

await t.test("answers without a request end the connection, so that they do not fill the memory", async (t) => {
  const { server } = await world(t);
  const { sync, away, said } = await newDevice(t, server);
  await sync.ready;
  const answer = JSON.stringify(server.answer({ type: "sync_request", limit: 1000 }));
  const heard = said().length;
  // Processed one by one, each would wait for the one before.
  for (const socket of server.sockets) for (let n = 0; n < 100; n += 1) socket.send(answer);
  await until("it is away", () => away.length === 1);
  await until("it has connected again", () => server.asked.length === 2);
  await until("it is live again", () => server.sockets.size === 1);
  t.equal(said().length, heard);
});

await t.test("a device does not collect pushes without end; a sync has what they say", async (t) => {
  const { server, vaultId, ids } = await world(t);
  const { sync, said } = await newDevice(t, server);
  await sync.ready;
  const [id = ""] = ids;
  const record = server.records.get(id);
  if (record === undefined) throw new Error("no such record");
  // The device waits for a record, and further pushes wait for it.
  let finish: (() => void) | undefined;
  server.instead.http = ({ path }, response) => {
    if (!path.endsWith(id)) return false;
    finish = () => json(response, 200, record);
    return true;
  };
  server.push(server.put(record));
  await until("it requests the record", () => finish !== undefined);
  delete server.instead.http;
  const pushes = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1)
      server.push({
        ...{ type: "push", action: "record_updated", vault_id: vaultId, updated_at: server.tick() },
        record_id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
      });
  };
  pushes(0, 5_000);
  pushes(0, 5_000);
  const [socket] = server.sockets;
  const received = new Promise((resolve) => socket?.once("pong", resolve));
  socket?.ping();
  await received;
  t.equal(server.sockets.size, 1, "pushes about one object wait as one");
  pushes(5_000, 10_100);
  await until("the connection is ended", () => socket?.readyState === 3);
  finish?.();
  await until("it has connected again", () => server.asked.length === 2);
  await until("it has the new version", () => said().at(-1) === "record_updated item 0");
});
