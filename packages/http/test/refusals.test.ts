import { errorCodes, type ErrorCode } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { z } from "zod";
import { anyone, oversize, route } from "../src/index.ts";
import { echo, rows, uid } from "./rows.ts";
import { startApp } from "./start-app.ts";

/** Throws the error that the query names. */
const failing = route({
  method: "GET",
  path: "/api/fails",
  bucket: "user",
  caller: anyone,
  query: z.object({ code: z.string(), retry: z.coerce.number().optional() }),
  status: 200,
  run: (_deps: object, { query: { code, retry } }) => {
    if (code === "bug") throw new TypeError("secret-detail of a bug");
    if (code === "string") throw "secret-detail of a string"; // oxlint-disable-line typescript/only-throw-error -- code may throw any value
    const options = { details: [{ field: "x", issue: "wrong" }], cause: new Error("secret-detail of a cause") };
    return Promise.reject(
      new ServiceError(
        code as ErrorCode,
        "a sentence",
        retry === undefined ? options : { ...options, retryAfterSeconds: retry },
      ), // the test's own codes
    );
  },
});

await t.test("every error has the same shape, its status and its headers", async (t) => {
  const app = await startApp(t, [failing]);
  for (const [code, status] of Object.entries(errorCodes)) {
    const answer = await fetch(`${app.url}/api/fails?code=${code}`);
    t.equal(answer.status, status, code);
    t.strictSame(await answer.json(), {
      error: code,
      message: "a sentence",
      request_id: answer.headers.get("x-request-id"),
      details: [{ field: "x", issue: "wrong" }],
    });
    t.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
    t.equal(answer.headers.get("cache-control"), "no-store");
    t.equal(answer.headers.get("x-content-type-options"), "nosniff");
    t.equal(answer.headers.get("www-authenticate"), status === 401 ? "Bearer" : null);
    t.equal(answer.headers.get("retry-after"), status === 503 || status === 429 ? "1" : null);
    t.match(answer.headers.get("ratelimit"), /^"user";r=\d+;t=\d+$/, "limited endpoints say so on every answer");
    t.equal(answer.headers.get("x-powered-by"), null);
  }
});

await t.test("an error says in whole seconds when to come back", async (t) => {
  const app = await startApp(t, [failing]);
  for (const [given, shown] of [
    [17, "17"],
    [0.2, "1"],
    [0, "1"],
    [1.5, "2"],
  ] as const) {
    const answer = await fetch(`${app.url}/api/fails?code=unavailable&retry=${given}`);
    t.equal(answer.headers.get("retry-after"), shown);
  }
});

await t.test("a bug is 500 without detail, and in the log with it", async (t) => {
  const app = await startApp(t, [failing]);
  for (const code of ["bug", "string"]) {
    const answer = await fetch(`${app.url}/api/fails?code=${code}`, { headers: { "x-request-id": `call-${code}` } });
    t.equal(answer.status, 500);
    const text = await answer.text();
    t.match(JSON.parse(text), { error: "internal_error", request_id: `call-${code}` });
    t.notMatch(text, /secret-detail/);
    const line = app
      .logged()
      .split("\n")
      .find((line) => line.includes(`"request_id":"call-${code}"`) && line.includes('"error"'));
    t.match(line, /secret-detail/);
  }
});

await t.test("a store that is away is 503, and its cause is in the log", async (t) => {
  const app = await startApp(t, [failing]);
  const answer = await fetch(`${app.url}/api/fails?code=unavailable`);
  t.equal(answer.status, 503);
  t.notMatch(await answer.text(), /secret-detail/);
  t.match(app.logged(), /"level":"warn".*secret-detail of a cause/);
});

await t.test("an operation that returns nothing where a body is promised is a bug", async (t) => {
  const app = await startApp(t, [
    route({
      method: "GET",
      path: "/api/none",
      bucket: "user",
      caller: anyone,
      status: 200,
      run: () => Promise.resolve(),
    }),
    route({ method: "GET", path: "/api/loop", bucket: "user", caller: anyone, status: 200, run: loop }),
  ]);
  for (const path of ["/api/none", "/api/loop"]) {
    const answer = await fetch(app.url + path);
    t.equal(answer.status, 500, path);
    t.match(await answer.json(), { error: "internal_error" });
  }
});

/** Returns a value without a JSON form. */
function loop(): Promise<unknown> {
  const value: { self?: unknown } = {};
  value.self = value;
  return Promise.resolve(value);
}

await t.test("204 has no body and no type", async (t) => {
  const app = await startApp(t, rows);
  const answer = await fetch(`${app.url}/api/sm/v1/secrets/${uid}`, {
    method: "DELETE",
    headers: { authorization: "Bearer ann" },
  });
  t.equal(answer.status, 204);
  t.equal(await answer.text(), "");
  t.equal(answer.headers.get("content-type"), null);
  t.equal(answer.headers.get("content-length"), null);
  t.equal(answer.headers.get("cache-control"), "no-store");
});

await t.test("authentication follows the limiter", async (t) => {
  const app = await startApp(t, rows);
  const put = (authorization: string | undefined, body: string): Promise<Response> =>
    fetch(`${app.url}/api/sm/v1/secrets/${uid}`, {
      method: "PUT",
      headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
      body,
    });
  for (const authorization of [undefined, "", "ann", "Basic YTpi", "Bearer", "Bearer a b", "Bearer nobody"]) {
    const answer = await put(authorization, "{not read");
    t.equal(answer.status, 401, String(authorization));
    t.match(await answer.json(), { error: "invalid_token" });
    t.equal(answer.headers.get("www-authenticate"), "Bearer");
    t.match(answer.headers.get("ratelimit"), /^"standard";/);
  }
  t.equal((await put("Bearer blocked", "{not read")).status, 403);
  t.equal((await put("Bearer ann", "{not read")).status, 400);
  t.equal((await put("bearer   ann", '{"name":"a"}')).status, 200, "the scheme in any case");
});

await t.test("a check of the service's own can say that something is too large", async (t) => {
  const body = z.array(z.number()).check(({ value, issues }) => {
    if (value.length > 3) issues.push({ ...oversize("more than 3 items"), input: value });
  });
  const app = await startApp(t, [
    route({ method: "POST", path: "/api/list", bucket: "user", caller: anyone, body, status: 200, run: echo }),
  ]);
  const post = (list: unknown): Promise<Response> =>
    fetch(`${app.url}/api/list`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(list),
    });
  t.equal((await post([1, 2, 3])).status, 200);
  const answer = await post([1, 2, 3, 4]);
  t.equal(answer.status, 413);
  t.match(await answer.json(), {
    error: "payload_too_large",
    details: [{ field: "body", issue: "more than 3 items" }],
  });
});

await t.test(
  "details name the fields of the interface, at most twenty, and never names that the caller chose",
  async (t) => {
    const body = z.object({ fields: z.record(z.string(), z.number()), strict: z.strictObject({}) });
    const app = await startApp(t, [
      route({ method: "POST", path: "/api/map", bucket: "user", caller: anyone, body, status: 200, run: echo }),
    ]);
    const post = async (value: unknown): Promise<string> => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
      return (await fetch(`${app.url}/api/map`, init)).text();
    };
    const one = await post({ fields: { "S3cret name": "x", plain_name: "x" }, strict: { "S3cret key": 1 } });
    t.match(JSON.parse(one), {
      details: [{ field: "fields.*" }, { field: "fields.plain_name" }, { field: "strict", issue: "unknown field" }],
    });
    t.notMatch(one, /S3cret/);
    const many = JSON.parse(
      await post({ fields: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, "x"])), strict: {} }),
    ) as { details: unknown[] };
    t.equal(many.details.length, 20);
  },
);
