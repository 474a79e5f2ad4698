import { setTimeout as pause } from "node:timers/promises";
import { until } from "@coffer/testkit";
import t from "tap";
import { anyone, route, streamed } from "../src/index.ts";
import { openRaw, type RawConnection } from "./raw.ts";
import { startApp } from "./start-app.ts";

// An answer is in memory until its client has read it. The process has 96 MiB for answers, an address half
// of that.

const mebibyte = 1024 * 1024;
const part = `"${"x".repeat(4 * mebibyte)}"`;
const piece = `"${"x".repeat(mebibyte)}"`;
let runs = 0;
/** The operations wait for it. */
let gate: Promise<unknown> = Promise.resolve();
const rows = [
  route({
    ...{ method: "GET", path: "/api/lists", bucket: "user", caller: anyone, status: 200 },
    run: async () => {
      runs += 1;
      await gate;
      return streamed(
        "tag",
        (async function* () {
          let before = "[";
          for (let n = 0; n < 8; n += 1, before = ",") yield await Promise.resolve(before + piece);
          yield "]";
        })(),
      );
    },
  }),
  route({
    ...{ method: "GET", path: "/api/things", bucket: "user", caller: anyone, status: 200 },
    run: async () => {
      runs += 1;
      await gate;
      return { large: part };
    },
  }),
  route({
    ...{ method: "GET", path: "/api/huge", bucket: "user", caller: anyone, status: 200 },
    run: () => Promise.resolve({ large: part.repeat(4) }),
  }),
  route({
    ...{ method: "GET", path: "/api/small", bucket: "user", caller: anyone, status: 200 },
    run: () => Promise.resolve({ small: true }),
  }),
  route({
    ...{ method: "POST", path: "/api/things", bucket: "user", caller: anyone, status: 200 },
    run: () => Promise.resolve({ large: part }),
  }),
] as const;
const app = await startApp(t, rows);

const refusedBefore = new Map<string, number>();

async function request(
  address: string,
  path: string,
  { method = "GET", port = app.port } = {},
): Promise<RawConnection> {
  const connection = await openRaw(t, port);
  connection.socket.pause();
  connection.socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nConnection: close\r\n\r\n`,
  );
  return connection;
}
const statusOf = async (address: string, path: string, method = "GET"): Promise<number> => {
  const response = await fetch(app.url + path, { method, headers: { "x-forwarded-for": address } });
  await response.arrayBuffer();
  return response.status;
};
/** Requests whose answers are not read, one after the other. */
async function unread(count: number, address: (n: number) => string, path: string): Promise<RawConnection[]> {
  const open: RawConnection[] = [];
  for (let n = 0; n < count; n += 1) {
    open.push(await request(address(n), path));
    await pause(10);
  }
  await pause(500);
  return open;
}
/** How many more requests of a route were answered with 429. */
async function refused(path: string): Promise<number> {
  const line = new RegExp(`_count\\{.*http_route="${path}",http_response_status_code="429"\\} (\\d+)`);
  return Number(line.exec(await app.metrics())?.[1] ?? 0) - (refusedBefore.get(path) ?? 0);
}
async function end(open: readonly RawConnection[], address: string): Promise<void> {
  for (const { socket } of open) socket.destroy();
  await until("none waits any more", async () => (await statusOf(address, "/api/small")) === 200);
}

for (const path of ["/api/lists", "/api/things"]) {
  await t.test(`${path}: unread answers of one address hold 48 MiB, and later requests do not run`, async (t) => {
    const before = runs;
    const open = await unread(40, (n) => `2001:db8:1:2::${n + 1}`, path);
    t.ok(runs - before >= 10 && runs - before < 20, `${runs - before} of 40 ran`);
    const ran = runs;
    for (const other of ["/api/lists", "/api/things"]) t.equal(await statusOf("2001:db8:1:2::99", other), 429, other);
    t.equal(runs, ran);
    t.equal(await statusOf("192.0.2.1", path), 200, "another address");
    t.match(await app.metrics(), /coffer_http_refusals_total\{service="test",reason="answers_of_address"\} [1-9]/);
    await end(open, "2001:db8:1:2::99");
  });
}

for (const path of ["/api/lists", "/api/things"]) {
  await t.test(`${path}: of requests that run at the same time, those without room are refused`, async (t) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    gate = promise;
    refusedBefore.set(path, (await refused(path)) + (refusedBefore.get(path) ?? 0));
    const before = runs;
    const open = await Promise.all(Array.from({ length: 40 }, () => request("192.0.2.3", path)));
    await until("all run", () => runs - before === 40);
    resolve(undefined);
    await until("most are refused", async () => (await refused(path)) >= 20);
    t.ok((await refused(path)) < 35, "the others wait for their readers");
    await end(open, "192.0.2.3");
  });
}

await t.test("several addresses leave room for another, and a change is always answered", async (t) => {
  const open = await unread(60, (n) => `192.0.2.${10 + (n % 10)}`, "/api/lists");
  const before = runs;
  for (let n = 10; n < 20; n += 1) await statusOf(`192.0.2.${n}`, "/api/lists");
  t.ok(runs - before < 10, `${runs - before} of 10 ran`);
  t.match(await app.metrics(), /coffer_http_refusals_total\{service="test",reason="answers_of_process"\} [1-9]/);
  t.equal(await statusOf("192.0.2.1", "/api/lists"), 200, "another address");
  t.equal(await statusOf("192.0.2.1", "/api/small"), 200);
  t.equal(await statusOf("192.0.2.10", "/api/things", "POST"), 200);
  await end(open, "192.0.2.10");
});

await t.test("a response whose reader takes nothing is ended, one that is read slowly is not", async (t) => {
  for (const [path, bytes] of [
    ["/api/lists", 8 * mebibyte],
    ["/api/huge", 16 * mebibyte],
  ] as const) {
    // Each counts for itself.
    const impatient = await startApp(t, rows, { unreadMilliseconds: 3_000 });
    const still = await request("192.0.2.2", path, { port: impatient.port });
    const closed = new Promise((resolve) => still.socket.once("close", resolve));
    const slow = await request("192.0.2.2", path, { port: impatient.port });
    let received = 0;
    slow.socket.on("data", (chunk) => {
      received += chunk.length;
      slow.socket.pause();
      setTimeout(() => slow.socket.resume(), 20);
    });
    slow.socket.resume();
    await until("the unread one is counted", async () => /reason="unread"\} [1-9]/.test(await impatient.metrics()));
    await slow.ended();
    t.ok(received > bytes, `${received} bytes of ${path}`);
    still.socket.resume();
    await closed;
    t.ok(still.received().length < bytes, `${still.received().length} bytes of ${path}`);
  }
});
