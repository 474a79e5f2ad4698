import type { ServerResponse } from "node:http";
import { until } from "@coffer/testkit";
import t from "tap";
import { type Listener, serve } from "../src/index.ts";
import { openRaw } from "./raw.ts";

interface Scope {
  teardown(work: () => unknown): unknown;
}

/** A server whose responses the test ends. */
async function start(t: Scope, upgrade?: Listener["upgrade"]) {
  const begun: { url: string; response: ServerResponse }[] = [];
  const listener: Listener = (request, response) => void begun.push({ url: request.url ?? "", response });
  if (upgrade !== undefined) listener.upgrade = upgrade;
  const serving = await serve(listener, { host: "127.0.0.1", port: 0, drainSeconds: 20 });
  t.teardown(() => serving.close());
  /** The latest request that has begun. */
  const latest = () => {
    const found = begun.at(-1);
    if (found === undefined) throw new Error("no request has begun");
    return found;
  };
  return { ...serving, begun, latest };
}

/** GET requests to /1, /2 and so on. */
const requests = (count: number, headers = ""): string =>
  Array.from({ length: count }, (_, n) => `GET /${n + 1} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`).join("");

await t.test("eight pipelined requests run one after another and are answered in order", async (t) => {
  const server = await start(t);
  const connection = await openRaw(t, server.port);
  for (let round = 1; round <= 2; round += 1) {
    connection.socket.write(requests(8));
    for (let n = 1; n <= 8; n += 1) {
      const count = (round - 1) * 8 + n;
      await until("the next one begins", () => server.begun.length === count);
      // The others were in the same chunk.
      await new Promise(setImmediate);
      t.equal(server.begun.length, count, "and no further one");
      const { url, response } = server.latest();
      t.equal(url, `/${n}`);
      response.end(`answer ${round}.${n}.`);
      await connection.until(new RegExp(`answer ${round}\\.${n}\\.`));
    }
  }
});

for (const count of [9, 2_000]) {
  await t.test(`a connection with ${count} unanswered requests is cut`, async (t) => {
    const server = await start(t);
    const connection = await openRaw(t, server.port);
    connection.socket.write(requests(count));
    t.equal(await connection.ended(), "");
    server.begun[0]?.response.end("late");
    await new Promise(setImmediate);
    t.equal(server.begun.length, 1, "the others do not run");
    const other = await openRaw(t, server.port);
    other.socket.write(requests(1));
    await until("another connection is served", () => server.begun.length === 2);
  });
}

await t.test("requests that come one by one count too, and answered ones do not", async (t) => {
  const server = await start(t);
  const connection = await openRaw(t, server.port);
  connection.socket.write(requests(8));
  await until("the first begins", () => server.begun.length === 1);
  server.begun[0]?.response.end("answer 1.");
  await connection.until(/answer 1\./);
  connection.socket.write(requests(1));
  await until("the second begins", () => server.begun.length === 2);
  server.begun[1]?.response.end("answer 2.");
  await connection.until(/answer 2\./);
  connection.socket.write(requests(1));
  connection.socket.write(requests(1));
  await connection.ended();
  t.ok(server.begun.length <= 3);
});

await t.test("requests that wait when their connection ends do not run", async (t) => {
  const server = await start(t);
  for (const leave of ["close", "last"] as const) {
    const before = server.begun.length;
    const connection = await openRaw(t, server.port);
    connection.socket.write(requests(8));
    await until("the first begins", () => server.begun.length === before + 1);
    const { response } = server.latest();
    const closed = new Promise((resolve) => response.once("close", resolve));
    if (leave === "close") connection.socket.destroy();
    else response.writeHead(200, { Connection: "close" }).end();
    await closed;
    await connection.ended();
    await new Promise(setImmediate);
    t.equal(server.begun.length, before + 1, leave);
  }
});

await t.test("100 Continue waits for the answers before it", async (t) => {
  const server = await start(t);
  const connection = await openRaw(t, server.port);
  connection.socket.write(requests(1) + requests(1, "Expect: 100-continue\r\nContent-Length: 1\r\n"));
  await until("the first begins", () => server.begun.length === 1);
  await new Promise(setImmediate);
  t.equal(server.begun.length, 1);
  server.begun[0]?.response.end("answer 1.");
  await until("the second begins", () => server.begun.length === 2);
  server.begun[1]?.response.writeContinue();
  await connection.until(/answer 1\.[^]*HTTP\/1\.1 100 Continue/);
});

await t.test("an upgrade before the answers of earlier requests cuts the connection", async (t) => {
  let upgrades = 0;
  const server = await start(t, (_request, socket) => {
    upgrades += 1;
    socket.end("upgraded");
  });
  const change = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const early = await openRaw(t, server.port);
  early.socket.write(requests(1) + requests(1, change));
  t.equal(await early.ended(), "");
  t.equal(upgrades, 0);
  const later = await openRaw(t, server.port);
  later.socket.write(requests(1));
  await until("it begins", () => server.begun.length === 2);
  server.begun[1]?.response.end("answer.");
  await later.until(/answer\./);
  later.socket.write(requests(1, change));
  t.match(await later.ended(), /upgraded$/);
});
