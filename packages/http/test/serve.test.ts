import type { RequestListener } from "node:http";
import t from "tap";
import { anyone, route, serve } from "../src/index.ts";
import { openRaw, sendRaw } from "./raw.ts";
import { rows } from "./rows.ts";
import { startApp } from "./start-app.ts";

const request = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const shape = /\r\n\r\n\{"error":"invalid_request","message":"[^"]+","request_id":"[0-9a-f-]{36}"\}$/;

await t.test("a malformed request gets the usual error body", async (t) => {
  const app = await startApp(t, rows);
  for (const text of [
    "nonsense\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/3.0\r\nHost: x\r\n\r\n",
    "GET /api/things HTTP/1.0\r\n\r\n",
    "\u0016\u0003\u0001\r\n\r\n",
    request("/", "Content-Length: x\r\n"),
    request("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
  ]) {
    const answer = await sendRaw(t, app.port, text);
    t.match(answer, /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/, JSON.stringify(text));
    t.match(answer, shape, JSON.stringify(text));
  }
  t.equal((await fetch(`${app.url}/api/things`)).status, 200);
});

await t.test("headers may have 16 KiB", async (t) => {
  const app = await startApp(t, rows);
  const sized = (bytes: number): string =>
    request("/api/things", `Connection: close\r\nX-Filler: ${"x".repeat(bytes)}\r\n`);
  t.match(await sendRaw(t, app.port, sized(16_000)), /^HTTP\/1\.1 200 /);
  const answer = await sendRaw(t, app.port, sized(16_400));
  t.match(answer, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
  t.match(answer, shape);
  t.match(await sendRaw(t, app.port, request(`/api/things?${"x".repeat(16_400)}`)), /^HTTP\/1\.1 431 /);
});

await t.test("a caller that trickles its headers is cut off", async (t) => {
  const app = await startApp(t, rows, { timeouts: { headers: 300, request: 10_000, idle: 10_000 } });
  const connection = await openRaw(t, app.port);
  const started = performance.now();
  const trickle = setInterval(() => connection.socket.write("X: y\r\n"), 20);
  connection.socket.write("GET /api/things HTTP/1.1\r\nHost: x\r\n");
  const answer = await connection.ended();
  clearInterval(trickle);
  t.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  t.match(answer, shape);
  const took = performance.now() - started;
  t.ok(took >= 300 && took < 5_000, `after ${took} ms`);
});

await t.test("a caller that trickles its body is cut off", async (t) => {
  const app = await startApp(t, rows, { timeouts: { headers: 300, request: 600, idle: 10_000 } });
  const connection = await openRaw(t, app.port);
  connection.socket.write(
    "POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n",
  );
  const trickle = setInterval(() => connection.socket.write(" "), 20);
  const answer = await connection.ended();
  clearInterval(trickle);
  t.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  while (!/status_code="499"/.test(await app.metrics())) await new Promise(setImmediate);
});

/** A route with a response of `bytes` bytes, more than all buffers on the way. */
function longRoute(bytes: number) {
  const text = "x".repeat(bytes);
  return route({
    ...({ method: "GET", path: "/api/long", bucket: "user", caller: anyone, status: 200 } as const),
    run: () => Promise.resolve({ text }),
  });
}

const mebibyte = 1024 * 1024;

await t.test("a caller that does not take its answer is cut off", async (t) => {
  const timeouts = { headers: 5_000, request: 10_000, idle: 300 };
  const app = await startApp(t, [longRoute(32 * mebibyte)], { timeouts, drainSeconds: 60 });
  const connection = await openRaw(t, app.port);
  connection.socket.pause();
  connection.socket.write(request("/api/long"));
  while (!(await app.metrics()).includes('status_code="200"')) await new Promise(setImmediate);
  const started = performance.now();
  await app.close(); // resolves when the last connection is closed
  t.ok(performance.now() - started < 20_000);
  connection.socket.resume();
  t.ok((await connection.ended()).length < 32 * mebibyte);
});

await t.test("a slow reader gets the whole response, also during shutdown", async (t) => {
  const timeouts = { headers: 5_000, request: 10_000, idle: 2_000 };
  const app = await startApp(t, [longRoute(16 * mebibyte)], { timeouts, drainSeconds: 60 });
  const idle = await openRaw(t, app.port);
  idle.socket.write(request("/api/nothing"));
  await idle.until(/\}$/);
  const connection = await openRaw(t, app.port);
  connection.socket.pause();
  connection.socket.write(request("/api/long"));
  while (!(await app.metrics()).includes('status_code="200"')) await new Promise(setImmediate);
  const closed = app.close();
  await idle.ended();
  connection.socket.resume();
  const received = await connection.ended();
  t.ok(received.endsWith('x"}') && received.length > 16 * mebibyte);
  await closed;
});

/** A route that answers when the test says so, and counts waiting requests. */
function slowRoute() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const state = { waiting: 0, release: () => release() };
  const row = route({
    ...({ method: "GET", path: "/api/slow", bucket: "user", caller: anyone, status: 200 } as const),
    run: async () => {
      state.waiting++;
      await released;
      return {};
    },
  });
  return { row, state };
}

await t.test("at the end requests in flight are answered and their connections closed", async (t) => {
  const { row, state } = slowRoute();
  const app = await startApp(t, [row], { drainSeconds: 20 });
  const connection = await openRaw(t, app.port);
  connection.socket.write(request("/api/slow"));
  while (state.waiting === 0) await new Promise(setImmediate);
  const closed = app.close();
  await t.rejects(openRaw(t, app.port), { code: "ECONNREFUSED" }, "no new connection");
  state.release();
  t.match(await connection.ended(), /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n/);
  await closed;
});

await t.test("at shutdown a request on an idle connection is answered with Connection: close", async (t) => {
  const { row, state } = slowRoute();
  state.release();
  const app = await startApp(t, [row], { drainSeconds: 20 });
  const connection = await openRaw(t, app.port);
  connection.socket.write(request("/api/slow"));
  await connection.until(/\{\}$/);
  t.match(connection.received(), /Connection: keep-alive/);
  const closed = app.close();
  connection.socket.write(request("/api/slow"));
  t.match(await connection.ended(), /Connection: close\r\n[^]*\{\}$/);
  await closed;
});

await t.test("at the end an idle connection is closed", async (t) => {
  const app = await startApp(t, rows, { drainSeconds: 20 });
  const connection = await openRaw(t, app.port);
  connection.socket.write(request("/api/things"));
  await connection.until(/\}$/);
  const started = performance.now();
  await app.close();
  t.ok(performance.now() - started < 10_000, "long before the drain period is over");
  await connection.ended();
});

await t.test("connections are cut after the drain period", async (t) => {
  const { row, state } = slowRoute();
  const app = await startApp(t, [row], { drainSeconds: 0.3 });
  const connection = await openRaw(t, app.port);
  connection.socket.write(request("/api/slow"));
  while (state.waiting === 0) await new Promise(setImmediate);
  await app.close();
  t.equal(await connection.ended(), "");
  state.release();
});

await t.test("close may be called twice", async (t) => {
  const app = await startApp(t, rows);
  await Promise.all([app.close(), app.close()]);
  await app.close();
});

await t.test("a port in use is an error with its code", async (t) => {
  const answer: RequestListener = (_request, response) => response.end("x");
  const first = await serve(answer, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(() => first.close());
  await t.rejects(serve(answer, { host: "127.0.0.1", port: first.port, drainSeconds: 1 }), { code: "EADDRINUSE" });
  t.equal(first.url, `http://127.0.0.1:${first.port}`);
});

await t.test("it listens on IPv6 too, where there is one", async (t) => {
  const answer: RequestListener = (_request, response) => response.end("x");
  const serving = await serve(answer, { host: "::1", port: 0, drainSeconds: 1 }).catch((error: unknown) => error);
  if (serving instanceof Error) {
    t.match(serving, { code: /EADDRNOTAVAIL|EAFNOSUPPORT/ });
    return;
  }
  const { url, close } = serving as Awaited<ReturnType<typeof serve>>; // it is no error
  t.teardown(close);
  t.match(url, /^http:\/\/\[::1\]:\d+$/);
  t.equal(await (await fetch(url)).text(), "x");
});
