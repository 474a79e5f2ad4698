import { parseTrustedProxies } from "@coffer/ratelimit";
import t from "tap";
import { routerSecretHeader } from "../src/index.ts";
import { openRaw } from "./raw.ts";
import { startApp, type TestApp } from "./start-app.ts";
import { rows, uid } from "./rows.ts";

const app = await startApp(t, rows);
let addresses = 0;
/** A new address. */
const freshAddress = (): string => `203.0.113.${++addresses}`;

interface From {
  of?: TestApp;
  body?: string;
  headers?: Record<string, string>;
}

function bootstrap(address: string | undefined, { of = app, body = '{"name":"a"}', headers = {} }: From = {}) {
  return fetch(`${of.url}/api/sm/v1/bootstrap`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(address === undefined ? {} : { "x-forwarded-for": address }),
      ...headers,
    },
    body,
  });
}

async function exhaust(address: string | undefined, from?: From): Promise<void> {
  for (let i = 0; i < 5; i++) t.equal((await bootstrap(address, from)).status, 200);
}

await t.test("every answer of a limited endpoint says how much is left", async (t) => {
  const address = freshAddress();
  for (let left = 4; left >= 0; left--) {
    const answer = await bootstrap(address, { body: left % 2 === 0 ? '{"name":"a"}' : "{" });
    t.equal(answer.status, left % 2 === 0 ? 200 : 400);
    t.equal(answer.headers.get("ratelimit-policy"), '"strict";q=5;w=60');
    t.match(answer.headers.get("ratelimit"), new RegExp(`^"strict";r=${left};t=(60|5\\d)$`));
    t.equal(answer.headers.get("retry-after"), null);
  }
  const answer = await bootstrap(address);
  t.equal(answer.status, 429);
  t.match(await answer.json(), { error: "rate_limited", message: String, request_id: String });
  t.match(answer.headers.get("ratelimit"), /^"strict";r=0;t=(60|5\d)$/);
  t.equal(answer.headers.get("retry-after"), /t=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
});

await t.test("the limiter comes before authentication, path validation and the body", async (t) => {
  const address = freshAddress();
  await exhaust(address);
  for (const from of [
    { body: "{" },
    { headers: { "content-type": "text/plain" } },
    { headers: { authorization: "x" } },
  ])
    t.equal((await bootstrap(address, from)).status, 429);
  const headers = { "x-forwarded-for": address };
  for (const [path, status] of [
    [`/api/sm/v1/secrets/${uid}`, 401],
    ["/api/sm/v1/nothing", 404],
    ["/api/things", 200],
  ] as const) {
    const answer = await fetch(app.url + path, { headers });
    t.equal(answer.status, status, "another bucket");
    t.match(answer.headers.get("ratelimit"), /^"(standard|user)";r=9999\d;t=/);
  }
});

await t.test("paths that do not exist are counted with their part of the interface", async (t) => {
  for (const [path, bucket] of [
    ["/api/sm/v1/nothing", "standard"],
    ["/api/sm/v1/secrets/%zz", "standard"],
    ["/api/nothing", "user"],
    ["/.well-known/nothing", "user"],
  ] as const) {
    const answer = await fetch(app.url + path);
    t.match(answer.headers.get("ratelimit-policy"), new RegExp(`^"${bucket}";q=100000;w=60$`), path);
  }
  t.equal((await fetch(`${app.url}/index.html`)).headers.get("ratelimit"), null);
});

await t.test("each address has a bucket of its own, IPv6 each /64", async (t) => {
  await exhaust("2001:db8:1:1::1");
  t.equal((await bootstrap("2001:db8:1:1:ffff::2")).status, 429);
  t.equal((await bootstrap("[2001:db8:1:1::3]:443")).status, 429);
  t.equal((await bootstrap("2001:db8:1:2::1")).status, 200);
  const address = freshAddress();
  await exhaust(address);
  t.equal((await bootstrap(`::ffff:${address}`)).status, 429);
  t.equal((await bootstrap(freshAddress())).status, 200);
});

await t.test("a forged header never moves a request to another bucket", async (t) => {
  const address = freshAddress();
  await exhaust(address);
  for (const forged of ["1.2.3.4", "127.0.0.1", "garbage", "", `${freshAddress()}, ${freshAddress()}`])
    t.equal((await bootstrap(`${forged}, ${address}`)).status, 429, forged);
  t.equal((await bootstrap(address, { headers: { "x-real-ip": "1.2.3.4", forwarded: "for=1.2.3.4" } })).status, 429);
  t.equal((await bootstrap(address, { headers: { [routerSecretHeader]: "guess" } })).status, 429);
});

await t.test("without a trusted proxy the header means nothing", async (t) => {
  const of = await startApp(t, rows, { trustedProxies: parseTrustedProxies([]) });
  await exhaust("203.0.113.1", { of });
  for (const forged of ["203.0.113.2", "127.0.0.1", "", "::1"]) t.equal((await bootstrap(forged, { of })).status, 429);
  t.equal((await bootstrap(undefined, { of })).status, 429);
});

await t.test("the forwarded address of a router with the secret is used", async (t) => {
  const of = await startApp(t, rows, { trustedProxies: parseTrustedProxies([]), routerSecret: "the secret" });
  const routed = { of, headers: { [routerSecretHeader]: "the secret" } };
  await exhaust("203.0.113.1", routed);
  t.equal((await bootstrap("203.0.113.1", routed)).status, 429);
  t.equal((await bootstrap("203.0.113.2", routed)).status, 200);
  for (const wrong of ["the secre", "the secret2", "The secret", ""]) {
    const answer = await bootstrap("203.0.113.2", { of, headers: { [routerSecretHeader]: wrong } });
    t.match(await answer.json(), { request: { ip: "127.0.0.1" } });
  }
  t.notMatch(of.logged(), /the secret/);
});

const huge = (address: string, length: string): string =>
  `POST /api/sm/v1/bootstrap HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

await t.test("a refused request with a huge body is answered without reading it", async (t) => {
  const address = freshAddress();
  await exhaust(address);
  for (const length of ["Content-Length: 1000000000", "Transfer-Encoding: chunked"]) {
    const connection = await openRaw(t, app.port);
    connection.socket.write(huge(address, length));
    const text = await connection.until(/request_id":"[^"]+"\}$/);
    t.match(
      text,
      /^HTTP\/1\.1 429 [^]*\r\nConnection: close\r\n/,
      "the answer is complete before any of the body was sent",
    );

    // A caller that sends the body nevertheless is cut off soon.
    const chunk = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    while (!connection.socket.closed && sent < 64 * 1024 * 1024) {
      sent += chunk.length;
      await new Promise((resolve) => connection.socket.write(chunk, resolve));
    }
    t.ok(connection.socket.closed, `closed after ${sent} bytes`);
  }
});

await t.test("a refused request with a small body keeps its connection", async (t) => {
  const address = freshAddress();
  await exhaust(address);
  const connection = await openRaw(t, app.port);
  for (let i = 0; i < 2; i++) {
    connection.socket.write(huge(address, "Content-Length: 1000"));
    connection.socket.write("x".repeat(1000));
    await connection.until(new RegExp(`(429 [^]*){${i + 1}}\\}$`));
  }
  t.match(connection.received(), /Connection: keep-alive/);
  t.notMatch(connection.received(), /Connection: close/);
});

await t.test("a refused caller that waits for 100 Continue never gets it", async (t) => {
  const address = freshAddress();
  await exhaust(address);
  const connection = await openRaw(t, app.port);
  connection.socket.write(huge(address, "Content-Length: 1000000000\r\nExpect: 100-continue"));
  t.match(await connection.until(/request_id/), /^HTTP\/1\.1 429 /);
});
