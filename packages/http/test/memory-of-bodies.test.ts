import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { route } from "../src/index.ts";
import { openRaw, type RawConnection } from "./raw.ts";
import { startApp } from "./start-app.ts";

// A body is in memory until its client has sent the rest and the operation is over. The process has 128 MiB
// for bodies, an address half of that.

const mebibyte = 1024 * 1024;
const waiting: (() => void)[] = [];
const app = await startApp(t, [
  route({
    ...{ method: "POST", path: "/api/things", bucket: "user", status: 200 },
    caller: () => ({ name: "somebody" }),
    body: z.object({ name: z.string(), wait: z.boolean().optional() }),
    bodyLimitBytes: 32 * mebibyte,
    run: async (_deps: object, { body }: { body: { wait?: boolean | undefined } }) => {
      if (body.wait === true) await new Promise<void>((resolve) => waiting.push(resolve));
      return { ran: true };
    },
  }),
]);
const start = '{"name":"a"';
const head = (address: string, length: number): string =>
  `POST /api/things HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** All of a body but its last byte. */
async function begin(address: string, bytes: number): Promise<RawConnection> {
  const connection = await openRaw(t, app.port);
  connection.socket.write(`${head(address, bytes)}${start}${" ".repeat(bytes - start.length - 1)}`);
  return connection;
}
async function post(address: string, bytes: number, body: object = {}): Promise<Response> {
  const text = JSON.stringify({ ...body, name: "x".repeat(bytes) });
  const headers = { "content-type": "application/json", "x-forwarded-for": address };
  return fetch(`${app.url}/api/things`, { method: "POST", headers, body: text });
}
/** Bodies that are held, and those that were refused. */
async function holding(bodies: [address: string, bytes: number][]) {
  const open: RawConnection[] = [];
  for (const [address, bytes] of bodies) open.push(await begin(address, bytes));
  // They have arrived.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const refused = open.map((each) => each.received()).filter((text) => text !== "");
  return {
    refused,
    end: async () => {
      for (const { socket } of open) socket.destroy();
      await until("nothing is held", async () => (await post(bodies[0]?.[0] ?? "", 8 * mebibyte)).status === 200);
    },
  };
}
const many = (count: number, address: (n: number) => string, bytes: number): [string, number][] =>
  Array.from({ length: count }, (_, n) => [address(n), bytes]);

await t.test("an address holds 64 MiB of unfinished bodies, however small each is", async (t) => {
  const { refused, end } = await holding(many(80, () => "192.0.2.1", mebibyte - 16));
  t.ok(refused.length >= 14 && refused.length <= 18, `${refused.length} of 80`);
  for (const text of refused) {
    t.match(text, /^HTTP\/1\.1 429 /);
    t.match(text, /\r\nRetry-After: 5\r\n/i);
    t.match(text, '"error":"rate_limited"');
  }
  t.equal((await post("192.0.2.1", 2 * mebibyte)).status, 429);
  t.equal((await post("192.0.2.2", 20 * mebibyte)).status, 200, "another address");
  t.equal((await post("192.0.2.2", 100)).status, 200);
  await end();
  t.equal((await post("192.0.2.1", 31 * mebibyte)).status, 200, "none is held any more");
});

await t.test("the addresses of one /64 are one address", async (t) => {
  const { refused, end } = await holding(many(24, (n) => `2001:db8:1:2::${n + 1}`, 4 * mebibyte));
  t.ok(refused.length >= 7 && refused.length <= 10, `${refused.length} of 24`);
  t.equal((await post("2001:db8:1:3::1", 2 * mebibyte)).status, 200, "another /64");
  await end();
});

await t.test("several addresses leave room for another, and for small bodies most", async (t) => {
  const { refused, end } = await holding(many(40, (n) => `192.0.2.${10 + (n % 8)}`, 4 * mebibyte));
  t.ok(refused.length > 5, `${refused.length} of 40`);
  for (const text of refused) t.match(text, /^HTTP\/1\.1 503 [^]*Retry-After: 5\r\n[^]*"error":"unavailable"/i);
  t.equal((await post("192.0.2.3", 30 * mebibyte)).status, 503, "a large body of another address");
  t.equal((await post("192.0.2.3", 4 * mebibyte)).status, 200, "a smaller one");
  t.equal((await post("192.0.2.10", 60_000)).status, 200, "a small body of one of them");
  t.match(await app.metrics(), /coffer_http_refusals_total\{service="test",reason="bodies_of_process"\} [1-9]/);
  t.match(await app.metrics(), /coffer_http_refusals_total\{service="test",reason="bodies_of_address"\} [1-9]/);
  await end();
});

await t.test("inflated bytes count", async (t) => {
  // The text expands to less than 20 times its size.
  const noise = randomBytes(225_000).toString("base64");
  const text = JSON.stringify({ name: noise + "x".repeat(3 * mebibyte), wait: true });
  const zipped = new Uint8Array(gzipSync(text));
  const headers = {
    "content-type": "application/json",
    "content-encoding": "gzip",
    "x-forwarded-for": "192.0.2.4",
  };
  const sent = Array.from({ length: 24 }, () =>
    fetch(`${app.url}/api/things`, { method: "POST", headers, body: zipped }).then(({ status }) => status),
  );
  const refused: number[] = [];
  for (const one of sent) void one.then((status) => status !== 200 && refused.push(status));
  await until("the others run", () => waiting.length + refused.length === sent.length);
  t.ok(refused.length >= 2 && refused.every((status) => status === 429), `${refused.length} refused`);
  for (const resolve of waiting.splice(0)) resolve();
  await Promise.all(sent);
});

await t.test("a body counts while its operation runs", async (t) => {
  const running = [1, 2].map(() => post("192.0.2.5", 31 * mebibyte, { wait: true }));
  await until("both run", () => waiting.length === 2);
  t.equal((await post("192.0.2.5", 4 * mebibyte)).status, 429);
  for (const resolve of waiting.splice(0)) resolve();
  t.same(
    (await Promise.all(running)).map(({ status }) => status),
    [200, 200],
  );
  t.equal((await post("192.0.2.5", 4 * mebibyte)).status, 200);
});

await t.test("a body that is refused counts no more", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const connection = await openRaw(t, app.port);
    connection.socket.write(`${head("192.0.2.6", 16 * mebibyte)}${"[".repeat(16 * mebibyte)}`);
    t.match(await connection.until(/request_id/), /^HTTP\/1\.1 4/);
    connection.socket.destroy();
  }
  t.equal((await post("192.0.2.6", 31 * mebibyte)).status, 200);
});
