import t from "tap";
import { anyone, route } from "../src/index.ts";
import { sendRaw } from "./raw.ts";
import { echo, rows, uid } from "./rows.ts";
import { startApp } from "./start-app.ts";

const app = await startApp(t, rows);
const authorization = "Bearer ann";
const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(app.url + path, { headers: { authorization }, ...init });

await t.test("each path has exactly one spelling", async (t) => {
  t.equal((await get(`/api/sm/v1/secrets/${uid}`)).status, 200);
  for (const other of [
    `/api/sm/v1/secrets/${uid}/`,
    `/api/sm/v1//secrets/${uid}`,
    `/api/sm/v1/SECRETS/${uid}`,
    `/api/sm/v1/%73ecrets/${uid}`,
    `/api/sm/v1/secrets/x/../${uid}x`,
    `/api/sm/v1/secrets/${uid}/more`,
    "/api/sm/v1/secrets/",
    "/api/sm/v1",
    "/api/sm/",
  ]) {
    const answer = await get(other);
    t.equal(answer.status, 404, other);
    t.match(await answer.json(), { error: "secret_not_found", message: String, request_id: String }, other);
  }
});

await t.test("a path that names nothing is 404 with the code of its part of the interface", async (t) => {
  for (const [path, error] of [
    ["/api/sm/v1/nothing", "secret_not_found"],
    ["/api/nothing", "not_found"],
    ["/", "not_found"],
    ["/favicon.ico", "not_found"],
    ["/api/sm", "not_found"],
    ["//api/sm/v1/secrets", "not_found"],
    ["/API/sm/v1/secrets", "not_found"],
  ] as const) {
    const answer = await get(path);
    t.equal(answer.status, 404, path);
    t.match(await answer.json(), { error }, path);
  }
});

await t.test("a method that a path lacks is 404 in the same shape", async (t) => {
  for (const method of ["POST", "PATCH", "OPTIONS", "PROPFIND"]) {
    const answer = await get(`/api/sm/v1/secrets/${uid}`, { method, headers: { authorization } });
    t.equal(answer.status, 404, method);
    t.match(await answer.json(), { error: "secret_not_found" });
    t.equal(answer.headers.get("allow"), null);
  }
});

await t.test("an id of the wrong shape names nothing", async (t) => {
  for (const bad of [
    "x",
    `${uid}x`,
    uid.slice(1),
    `-${uid.slice(1)}`,
    `${uid.slice(1)}%00`,
    `${uid.slice(1)}%2F`,
    "..%2f..%2f",
    "%e2%82%ac",
  ]) {
    const answer = await get(`/api/sm/v1/secrets/${bad}`);
    t.equal(answer.status, 404, bad);
    t.match(await answer.json(), { error: "secret_not_found" });
  }
  const user = await get("/api/things/a/parts/%00");
  t.equal(user.status, 404);
  t.match(await user.json(), { error: "not_found" });
});

await t.test("an id of the wrong shape is looked at after the caller", async (t) => {
  t.equal((await get("/api/sm/v1/secrets/x", { headers: {} })).status, 401);
  t.equal((await get("/api/sm/v1/secrets/x", { headers: { authorization: "Bearer blocked" } })).status, 403);
});

await t.test("parameters are percent-decoded once", async (t) => {
  const part = "a/b c%2F?#é\u{1F511}";
  const answer = await get(`/api/things/x%2fy/parts/${encodeURIComponent(part)}`);
  t.match(await answer.json(), {
    params: { name: "x/y", part },
    request: { route: "/api/things/{name}/parts/{part}" },
  });
});

await t.test("a path that cannot be decoded is 404", async (t) => {
  for (const bad of ["%zz", "%", "%e2%82", "%ff", "%c0%ae"]) {
    const answer = await get(`/api/things/a/parts/${bad}`);
    t.equal(answer.status, 404, bad);
    t.match(await answer.json(), { error: "not_found", request_id: String });
    t.equal((await get(`/api/sm/v1/secrets/${bad}`)).status, 404, bad);
  }
  t.notMatch(app.logged(), /URIError|"level":"error"/);
});

await t.test("a literal segment goes before a parameter, in any order of rows", async (t) => {
  t.match(await (await get("/api/sm/v1/secrets/search?title=x")).json(), {
    request: { route: "/api/sm/v1/secrets/search" },
  });
});

await t.test("HEAD is GET without the body", async (t) => {
  const [whole, head] = await Promise.all([get("/api/things"), get("/api/things", { method: "HEAD" })]);
  t.equal(head.status, 200);
  t.equal(await head.text(), "");
  for (const name of ["content-type", "cache-control", "ratelimit-policy"])
    t.equal(head.headers.get(name), whole.headers.get(name), name);
  t.ok(Number(head.headers.get("content-length")) > 0);
  const missing = await get("/api/nothing", { method: "HEAD" });
  t.equal(missing.status, 404);
  t.equal(await missing.text(), "");
});

await t.test("the absolute form of a request target is understood", async (t) => {
  const close = "Host: x\r\nConnection: close\r\n\r\n";
  t.match(await sendRaw(t, app.port, `GET http://x/api/things HTTP/1.1\r\n${close}`), /^HTTP\/1\.1 200 /);
  t.match(await sendRaw(t, app.port, `GET http://x/api/nothing HTTP/1.1\r\n${close}`), /^HTTP\/1\.1 404 [^]*not_found/);
  t.match(await sendRaw(t, app.port, `GET * HTTP/1.1\r\n${close}`), /^HTTP\/1\.1 404 /);
  t.match(await sendRaw(t, app.port, `OPTIONS * HTTP/1.1\r\n${close}`), /^HTTP\/1\.1 404 /);
});

await t.test("two routes of one method and path are a mistake", async (t) => {
  const row = (path: string) => route({ method: "GET", path, bucket: "user", caller: anyone, status: 200, run: echo });
  await t.rejects(startApp(t, [row("/api/a/:id"), row("/api/a/:name")]), new Error("two routes for GET /api/a/:"));
});
