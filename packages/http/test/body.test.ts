import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { route } from "../src/index.ts";
import { openRaw, sendRaw } from "./raw.ts";
import { rows } from "./rows.ts";
import { startApp } from "./start-app.ts";

const app = await startApp(t, rows);

interface Sent {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | null;
}

/** Sends a body, by default as JSON. */
function send({ path = "/api/things", method = "POST", headers, body = '{"name":"a"}' }: Sent = {}): Promise<Response> {
  return fetch(app.url + path, { method, headers: headers ?? { "content-type": "application/json" }, body });
}

const patch = { method: "PATCH", headers: { "content-type": "application/json", authorization: "Bearer ann" } };
const gzipHeaders = { ...patch.headers, "content-encoding": "gzip" };
const zipped = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(gzipSync(text));

const post = (length: string, body: string, path = "/api/things"): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n${body}`;

await t.test("a JSON body is read", async (t) => {
  const answer = await send();
  t.equal(answer.status, 201);
  t.match(await answer.json(), { body: { name: "a" } });
});

await t.test("a body that is not JSON is 400 and not quoted", async (t) => {
  for (const body of [
    "{",
    '{"name":"s3cret"',
    "s3cret",
    "[1,]",
    "{'name':1}",
    '{"name":"a"}x',
    "\ufeff{}",
    " ",
    "\u0000",
  ]) {
    const answer = await send({ body });
    t.equal(answer.status, 400, JSON.stringify(body));
    const text = await answer.text();
    t.match(JSON.parse(text), { error: "invalid_request", message: String, request_id: String });
    t.notMatch(text, /s3cret/);
  }
  t.notMatch(app.logged(), /s3cret/);
});

await t.test("JSON of another shape is 400 with details that quote no value", async (t) => {
  for (const [body, details] of [
    ['{"name":4711}', [{ field: "name", issue: String }]],
    ["{}", [{ field: "name", issue: String }]],
    ["[4711]", [{ field: "body", issue: String }]],
    ["4711", [{ field: "body", issue: String }]],
    ["null", [{ field: "body", issue: String }]],
    ['"4711"', [{ field: "body", issue: String }]],
    [`{"name":"4711${"x".repeat(60)}\\u0000"}`, [{ field: "name", issue: String }]],
  ] as const) {
    const answer = await send({ body });
    t.equal(answer.status, 400, body);
    const text = await answer.text();
    t.match(JSON.parse(text), { error: "invalid_request", details }, body);
    t.notMatch(text, /4711/);
  }
});

await t.test("unknown fields are ignored", async (t) => {
  const answer = await send({ body: '{"name":"a","more":{"x":[1]}}' });
  t.strictSame(((await answer.json()) as { body: unknown }).body, { name: "a" });
});

await t.test("no body, or an empty one, is 400", async (t) => {
  t.equal((await send({ body: null })).status, 400);
  t.equal((await send({ body: "" })).status, 400);
  t.equal((await send({ body: "", headers: {} })).status, 400);
  t.match(
    await sendRaw(t, app.port, post("Transfer-Encoding: chunked\r\nConnection: close", "0\r\n\r\n")),
    /^HTTP\/1\.1 400 /,
  );
});

await t.test("another content type is 400", async (t) => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "application/json+x",
    "json",
    "",
  ]) {
    const answer = await send({ headers: { "content-type": type } });
    t.equal(answer.status, 400, type);
    t.match(await answer.json(), { error: "invalid_request" });
  }
  const untyped = new Blob(['{"name":"a"}']);
  t.equal((await fetch(`${app.url}/api/things`, { method: "POST", body: untyped })).status, 400);
});

await t.test("JSON is UTF-8, said or not", async (t) => {
  for (const type of [
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/json ; charset=utf8",
    "application/json;",
  ])
    t.equal((await send({ headers: { "content-type": type } })).status, 201, type);
  for (const type of [
    "application/json; charset=latin1",
    "application/json; charset=utf-16",
    "application/json; charset=",
  ])
    t.equal((await send({ headers: { "content-type": type } })).status, 400, type);
  const broken = new Uint8Array([...Buffer.from('{"name":"'), 0xff, 0xfe, ...Buffer.from('"}')]);
  t.equal((await send({ body: broken })).status, 400);
  t.match(await (await send({ body: '{"name":"é\u{1F511}"}' })).json(), { body: { name: "é\u{1F511}" } });
  t.equal((await send({ body: '{"name":"\\ud800"}' })).status, 400, "half of a character");
});

await t.test("a body at its limit is taken, a byte more is 413", async (t) => {
  const sized = (length: number): string => `{"name":"a"${" ".repeat(length - 12)}}`;
  t.equal((await send({ body: sized(100) })).status, 201);
  const answer = await send({ body: sized(101) });
  t.equal(answer.status, 413);
  t.match(await answer.json(), { error: "payload_too_large", message: String, request_id: String });

  const chunked = (length: number): Promise<string> => {
    const body = `${length.toString(16)}\r\n${sized(length)}\r\n0\r\n\r\n`;
    return sendRaw(t, app.port, post("Transfer-Encoding: chunked\r\nConnection: close", body));
  };
  t.match(await chunked(100), /^HTTP\/1\.1 201 /);
  t.match(await chunked(101), /^HTTP\/1\.1 413 /);
});

await t.test("the limit is 1 MiB where a route says nothing", async (t) => {
  const sized = (length: number): string => `{"name":"a"${" ".repeat(length - 12)}}`;
  t.equal((await send({ ...patch, body: sized(1024 * 1024) })).status, 200);
  t.equal((await send({ ...patch, body: sized(1024 * 1024 + 1) })).status, 413);
});

await t.test("a gzip body is taken, and its limit counts inflated bytes", async (t) => {
  const put = { method: "PUT", headers: gzipHeaders };
  t.match(await (await send({ ...put, body: zipped('{"name":"a"}') })).json(), { body: { name: "a" } });
  t.equal((await send({ ...put, body: zipped(`{"name":"a"${" ".repeat(88)}}`) })).status, 200, "100 bytes");
  t.equal((await send({ ...put, body: zipped(`{"name":"a"${" ".repeat(89)}}`) })).status, 413, "101 bytes");
  const bomb = zipped(`{"name":"${"a".repeat(20_000_000)}"}`);
  t.equal((await send({ ...patch, headers: gzipHeaders, body: bomb })).status, 413, "20 MB in 20 KB");
});

await t.test("a gzip body expands to at most 20 times its size", async (t) => {
  const noise = randomBytes(3_000).toString("base64");
  const sized = (spaces: number): Uint8Array<ArrayBuffer> => zipped(`{"name":"a","x":"${noise}"${" ".repeat(spaces)}}`);
  const compressed = sized(0).length;
  const padded = (spaces: number) => send({ ...patch, headers: gzipHeaders, body: sized(spaces) });
  t.equal((await padded(compressed * 19 - noise.length)).status, 200, "19 times");
  const refused = await padded(compressed * 22);
  t.equal(refused.status, 413, "more than 20 times");
  t.match(await refused.json(), { message: /expands to more than 20 times/ });
});

await t.test("a body with another coding, or not in the one it says, is 400", async (t) => {
  const coded = (coding: string, sent: Sent = {}) =>
    send({ ...patch, headers: { ...gzipHeaders, "content-encoding": coding }, ...sent });
  t.equal((await coded("identity")).status, 200);
  for (const coding of ["br", "deflate", "zstd", "gzip, gzip", "gzip", "x"])
    t.equal((await coded(coding)).status, 400, coding);
  const cut = zipped('{"name":"abc"}').subarray(0, -6);
  t.equal((await coded("gzip", { body: cut })).status, 400, "the end is missing");
});

await t.test("an anonymous JSON body has at most 16 KiB and no coding", async (t) => {
  const sized = (length: number): string => `{"data":"AAAA"${" ".repeat(length - 15)}}`;
  const large = (body: string) => send({ path: "/api/large", body });
  t.equal((await large(sized(16 * 1024))).status, 200);
  t.equal((await large(sized(16 * 1024 + 1))).status, 413);
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  t.equal((await send({ path: "/api/large", headers, body: zipped(sized(100)) })).status, 400);
});

await t.test("a body that announces more than the limit is 413, in any coding", async (t) => {
  const noGzip = "x".repeat(101);
  for (const coding of ["gzip", "identity", "br"]) {
    const headers = { "content-type": "application/json", "content-encoding": coding };
    t.equal((await send({ headers, body: noGzip })).status, 413, coding);
    t.equal((await send()).status, 201, "and the service goes on");
  }
});

await t.test("a raw body comes with the headers that its route names, and no others", async (t) => {
  const raw = async (headers: [string, string][]): Promise<unknown> => {
    const answer = await fetch(`${app.url}/api/raw`, { method: "POST", headers, body: "{" });
    return ((await answer.json()) as { headers: unknown }).headers;
  };
  t.same(await raw([["X-Signature", "t=1,v1=ab"]]), { "x-signature": "t=1,v1=ab" });
  t.same(await raw([["X-Other", "a"]]), {});
  const twice = await raw([
    ["X-Signature", "one"],
    ["X-Signature", "two"],
  ]);
  t.same(twice, { "x-signature": "one, two" });
  const thing = await send();
  t.same(((await thing.json()) as { headers: unknown }).headers, {});
});

await t.test("a raw body comes as it was sent", async (t) => {
  const body = new Uint8Array([0, 255, 10, 13, 123]);
  const raw = (sent: Sent) => send({ path: "/api/raw", headers: {}, body, ...sent });
  t.match(await (await raw({})).json(), { body: { type: "Buffer", data: [0, 255, 10, 13, 123] } });
  t.match(await (await raw({ headers: { "content-type": "application/json" }, body: "{" })).json(), {
    body: { data: [123] },
  });
  t.match(await (await raw({ body: null })).json(), { body: { data: [] } });
  t.equal((await raw({ body: new Uint8Array(100) })).status, 200);
  t.equal((await raw({ body: new Uint8Array(101) })).status, 413);
  t.equal((await raw({ headers: { "content-encoding": "gzip" } })).status, 400);
});

await t.test("a text over its limit in KiB is 413, one of another form 400", async (t) => {
  const large = (data: string) => send({ path: "/api/large", body: JSON.stringify({ data }) });
  t.equal((await large("A".repeat(1024))).status, 200);
  const answer = await large("A".repeat(1028));
  t.equal(answer.status, 413);
  t.match(await answer.json(), {
    error: "payload_too_large",
    details: [{ field: "data", issue: "longer than 1 KiB" }],
  });
  t.equal((await large("A".repeat(1023))).status, 400);
});

await t.test("names that would reach a prototype are only names", async (t) => {
  for (const body of [
    '{"name":"a","__proto__":{"polluted":1}}',
    '{"name":"a","constructor":{"prototype":{"polluted":1}}}',
  ]) {
    const answer = await send({ body });
    t.equal(answer.status, 201);
    t.strictSame(((await answer.json()) as { body: unknown }).body, { name: "a" });
  }
  t.equal((await send({ body: '{"__proto__":{"name":"a"}}' })).status, 400);
  t.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

await t.test("a body has at most 32 levels", async (t) => {
  const nested = (depth: number): string => `{"name":"a","x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  t.equal((await send({ ...patch, body: nested(32) })).status, 200);
  for (const depth of [33, 200_000]) {
    const refused = await send({ ...patch, body: nested(depth) });
    t.equal(refused.status, 400);
    t.match(await refused.json(), { error: "invalid_request", message: /32 levels/ });
  }
  const braces = String.raw`{"name":"a","x":"\"[[[{{{\\","y":"${"[".repeat(40)}${"x".repeat(40)}\"${"[".repeat(40)}"}`;
  t.equal((await send({ ...patch, body: braces })).status, 200, "those in strings are text");
});

await t.test("a body has at most 50,000 structural tokens", async (t) => {
  // Besides the commas in the list there are seven.
  const counted = (tokens: number): string => `{"name":"a","x":[0${",0".repeat(tokens - 7)}]}`;
  t.equal((await send({ ...patch, body: counted(50_000) })).status, 200);
  const refused = await send({ ...patch, body: counted(50_001) });
  t.equal(refused.status, 413);
  t.match(await refused.json(), { error: "payload_too_large", message: /too many values/ });
  t.equal((await send({ ...patch, body: `{"name":"a","x":"${",".repeat(60_000)}"}` })).status, 200, "not in strings");
});

await t.test("a route without a body does not read one", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write("GET /api/things HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
  t.match(await connection.until(/"id"/), /^HTTP\/1\.1 200 /);
  connection.socket.write("{{{{{GET /api/nothing HTTP/1.1\r\nHost: x\r\n\r\n");
  t.match(await connection.until(/HTTP\/1\.1 404 /), /not_found/, "the connection goes on behind it");
});

await t.test("a caller that disconnects during its body is dropped", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(post("Content-Length: 50\r\nExpect: 100-continue", '{"name":'));
  await connection.until(/100 Continue/);
  connection.socket.destroy();
  while (!/http_response_status_code="499"/.test(await app.metrics())) await new Promise(setImmediate);
  t.equal((await send()).status, 201);
  t.notMatch(app.logged(), /"level":"(error|warn)"/);
});

for (const coding of ["identity", "gzip"]) {
  await t.test(`a caller that disconnects while it is identified is dropped too (${coding})`, async (t) => {
    const identifying = Promise.withResolvers<() => void>();
    const app = await startApp(t, [
      route({
        method: "POST",
        path: "/api/things",
        bucket: "user",
        caller: async () => {
          await new Promise<void>((resolve) => identifying.resolve(resolve));
          return { caller: {} };
        },
        body: z.object({}),
        status: 200,
        run: () => Promise.resolve({}),
      }),
    ]);
    const connection = await openRaw(t, app.port);
    connection.socket.write(
      "POST /api/things HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n" +
        `Content-Encoding: ${coding}\r\nContent-Length: 90\r\n\r\n`,
    );
    const identified = await identifying.promise;
    connection.socket.destroy();
    // The server has read the reset once it answers a connection that was opened later.
    t.equal((await fetch(`${app.url}/nothing`)).status, 404);
    identified();
    await until("the request is over", async () => (await app.metrics()).includes('status_code="499"'), 5);
  });
}

await t.test("100 Continue is sent only when the body is read", async (t) => {
  const body = '{"name":"a"}';
  const head = (path: string, length: number): string =>
    post(`Content-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close`, "", path).slice(0, -4) + "\r\n\r\n";
  const taken = await openRaw(t, app.port);
  taken.socket.write(head("/api/things", body.length));
  await taken.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  taken.socket.write(body);
  t.match(await taken.ended(), /HTTP\/1\.1 201 /);
  t.match(await sendRaw(t, app.port, head("/api/things", 101)), /^HTTP\/1\.1 413 /);
  t.match(await sendRaw(t, app.port, head("/api/nothing", 10)), /^HTTP\/1\.1 404 /);
});

await t.test("a body over its limit is refused without being read", async (t) => {
  const connection = await openRaw(t, app.port);
  connection.socket.write(post("Content-Length: 1000000000", "x".repeat(1000)));
  t.match(await connection.until(/request_id/), /^HTTP\/1\.1 413 [^]*Connection: close/);
  connection.socket.end();
  await connection.ended();
});
