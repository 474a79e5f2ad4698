import t from "tap";
import { type Exchange, exchangeProblems } from "../src/index.ts";
import { smallDescription } from "./small.ts";

const description = smallDescription(t);

const answerHeaders = {
  "x-request-id": "1",
  "ratelimit-policy": '"user";q=1;w=60',
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-type": "application/json; charset=utf-8",
};
const thing = { id: "1", owner: { name: "x", nick: "y" } };

interface Changes extends Partial<Omit<Exchange, "headers" | "requestHeaders" | "body" | "requestBody">> {
  headers?: Record<string, string | undefined>;
  requestHeaders?: Record<string, string>;
  body?: unknown;
  requestBody?: unknown;
}

/** The problems of a valid exchange with these changes. A string body is sent as it is. */
function problems(changes: Changes = {}): string[] {
  const { headers = {}, requestHeaders, body = thing, requestBody = { name: "x" }, ...rest } = changes;
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const all: Record<string, string | undefined> = { ...answerHeaders, ...headers };
  return exchangeProblems(description, {
    method: "POST",
    target: "/api/things",
    requestHeaders: new Headers(requestHeaders ?? { authorization: "Bearer x", "content-type": "application/json" }),
    requestBody: requestBody === null ? undefined : text(requestBody),
    status: 201,
    headers: new Headers(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    body: text(body),
    ...rest,
  });
}

/** A read, whose request has no body. */
const read = (changes: Changes): string[] =>
  problems({ method: "GET", target: "/api/things/7", status: 200, requestBody: null, requestHeaders: {}, ...changes });

await t.test("an exchange as it is described has no problems", (t) => {
  t.same(problems(), []);
  t.same(problems({ body: { ...thing, at: "2026-11-20T10:00:00Z", tags: { any: "x" } } }), []);
  t.same(read({}), []);
  t.same(read({ target: "/api/things/7?limit=3&other=1" }), []);
  t.same(read({ method: "HEAD", body: "" }), []);
  t.same(read({ status: 204, body: "", headers: { "content-type": undefined } }), []);
  t.same(read({ headers: { etag: '"1"', date: "now", vary: "Origin" } }), []);
  t.same(
    problems({ status: 409, body: { error: "conflict" }, requestBody: "{" }),
    [],
    "a refused request may have any form",
  );
  t.end();
});

await t.test("a status, a body or a field without a description is a problem", (t) => {
  t.match(problems({ status: 200 }), [/status 200 is not described/]);
  t.match(problems({ status: 500, body: { error: "internal_error" } }), [/status 500 is not described/]);
  t.match(problems({ body: "" }), ["the body is no JSON"]);
  t.match(problems({ body: { id: "1" } }), [/owner/]);
  t.match(problems({ body: { ...thing, id: 1 } }), [/\/id must be string/]);
  t.match(problems({ body: { ...thing, at: "2026-13-20T10:00:00Z" } }), [/\/at must match format/]);
  t.match(problems({ body: { ...thing, more: 1 } }), [/unevaluated.*"more"/]);
  t.match(problems({ body: { ...thing, owner: { name: "x", more: 1 } } }), [/\/owner.*"more"/]);
  t.match(problems({ body: { ...thing, tags: { any: 1 } } }), [/\/tags\/any must be string/]);
  t.match(read({ status: 204 }), ["there is a body"]);
  t.match(read({ method: "HEAD" }), ["there is a body"]);
  t.end();
});

await t.test("a header that is missing, undescribed or malformed is a problem", (t) => {
  t.match(problems({ headers: { "x-request-id": undefined } }), ["the header x-request-id is missing"]);
  t.match(problems({ headers: { "x-other": "1" } }), ["the header x-other is not described"]);
  t.match(problems({ headers: { "cache-control": "public" } }), [/cache-control must be no-store/]);
  t.match(problems({ headers: { "x-content-type-options": undefined } }), [/nosniff/]);
  t.match(problems({ headers: { "content-type": "text/html" } }), [/content type is text\/html/]);
  t.match(problems({ headers: { "ratelimit-policy": '"strict";q=1;w=60' } }), [/bucket is not user/]);
  t.end();
});

await t.test("a request that was accepted must match the description", (t) => {
  t.match(problems({ requestBody: {} }), [/request's body.*name/]);
  t.match(problems({ requestBody: { name: "x", kind: "c" } }), [/\/kind/]);
  t.match(problems({ requestBody: null }), ["the request's body is missing"]);
  t.match(problems({ requestBody: "{" }), ["the request's body is no JSON"]);
  t.match(problems({ requestHeaders: { "content-type": "application/json" } }), ["the request had no bearer token"]);
  t.match(problems({ requestHeaders: { authorization: "Bearer x" } }), [/request's content type/]);
  t.match(read({ target: "/api/things/x" }), [/path parameter id/]);
  t.match(read({ target: "/api/things/%zz" }), [/path parameter id is missing/]);
  t.match(read({ target: "/api/things/7?limit=4" }), [/query parameter limit/]);
  t.match(read({ target: "/api/things/7?limit=x" }), [/query parameter limit/]);
  t.match(read({ target: "/api/things/7?limit=1&limit=2" }), [/more than once/]);
  t.end();
});

await t.test("an undescribed path must be 404, 429 or 503", (t) => {
  const answer = (status: number, error: string, target = "/api/nothing"): string[] =>
    read({ target, status, body: { error } });
  t.same(answer(404, "not_found"), []);
  t.same(answer(404, "secret_not_found", "/api/sm/v1/nothing"), []);
  t.same(answer(429, "rate_limited"), []);
  t.same(answer(503, "unavailable"), []);
  t.match(answer(404, "secret_not_found"), [/nothing is described here/]);
  t.match(answer(200, ""), [/nothing is described here/]);
  t.match(read({ method: "DELETE" }), [/nothing is described here/], "a method that is not described");
  t.match(read({ target: "/api/things/" }), [/nothing is described here/], "an empty segment is no parameter");
  t.end();
});

await t.test("a literal path goes before one with a parameter", (t) => {
  t.equal(description.find("GET", "/api/things/first")?.id, "readFirst");
  t.equal(description.find("GET", "/api/things/second")?.id, "readThing");
  t.equal(description.find("HEAD", "/api/things/second")?.id, "readThing");
  t.equal(description.find("POST", "/api/things/second"), undefined);
  t.end();
});

await t.test("the router answers 503 for a service that is away", (t) => {
  const unlimited = { "ratelimit-policy": undefined, "x-request-id": undefined };
  t.same(problems({ status: 503, headers: unlimited, body: { error: "unavailable" } }), []);
  t.match(problems({ status: 503, headers: unlimited, body: { error: "internal_error" } }), [/503 is not described/]);
  t.match(problems({ status: 503, headers: { ratelimit: "x" }, body: { error: "unavailable" } }), [/503/]);
  t.end();
});

await t.test("a malformed request and a preflight need no description", (t) => {
  const closing = { connection: "close", "ratelimit-policy": undefined };
  for (const status of [400, 408, 431]) t.same(problems({ status, headers: closing }), []);
  t.match(problems({ status: 400, headers: { ...closing, ratelimit: '"user";r=1;t=1' } }), [/400/]);
  t.same(problems({ method: "OPTIONS", status: 204, body: "" }), []);
  t.end();
});

await t.test("a body that may come under any content type must be JSON", (t) => {
  const sent = (requestBody: unknown, type: string): string[] =>
    problems({
      target: "/api/things/any",
      status: 204,
      headers: { "content-type": undefined },
      body: "",
      requestHeaders: { "content-type": type },
      requestBody,
    });
  for (const body of [{}, [], "7", "null"]) t.same(sent(body, "text/plain"), []);
  t.match(sent("{", "text/plain"), [/no JSON/]);
  t.end();
});
