import t from "tap";
import { rows, uid } from "./rows.ts";
import { startApp } from "./start-app.ts";

const app = await startApp(t, rows);
const origin = "https://vault.example";
const exposed = /^ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id$/;

await t.test("an allowed origin may read every answer", async (t) => {
  for (const [path, status] of [
    ["/api/things", 200],
    ["/api/nothing", 404],
    [`/api/sm/v1/secrets/${uid}`, 401],
    ["/api/things/a/parts/%zz", 404],
  ] as const) {
    const answer = await fetch(app.url + path, { headers: { origin } });
    t.equal(answer.status, status, path);
    t.equal(answer.headers.get("access-control-allow-origin"), origin);
    t.match(answer.headers.get("access-control-expose-headers"), exposed);
    t.equal(answer.headers.get("vary"), "Origin");
    t.equal(answer.headers.get("access-control-allow-credentials"), null);
  }
});

await t.test("another origin is refused, and a request without an origin is served", async (t) => {
  for (const other of [
    "https://evil.example",
    "http://vault.example",
    "https://vault.example:8443",
    "null",
    `${origin}.evil.example`,
    "https://VAULT.example",
  ]) {
    const answer = await fetch(`${app.url}/api/things`, { headers: { origin: other } });
    t.equal(answer.status, 200);
    t.equal(answer.headers.get("access-control-allow-origin"), null, other);
    t.equal(answer.headers.get("vary"), "Origin");
  }
  const answer = await fetch(`${app.url}/api/things`);
  t.equal(answer.headers.get("access-control-allow-origin"), null);
});

function preflight(path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(app.url + path, { method: "OPTIONS", headers });
}

await t.test("a preflight is answered on every path, without limiter and caller", async (t) => {
  for (const path of ["/api/things", `/api/sm/v1/secrets/${uid}`, "/api/nothing", "/api/things/%zz"]) {
    const answer = await preflight(path, {
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "authorization,content-type,if-match",
    });
    t.equal(answer.status, 204, path);
    t.equal(await answer.text(), "");
    t.equal(answer.headers.get("access-control-allow-origin"), origin);
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
      t.match(answer.headers.get("access-control-allow-methods"), new RegExp(`\\b${method}\\b`));
    for (const name of ["authorization", "content-type", "if-match", "if-none-match", "x-coffer-org", "x-request-id"])
      t.match(answer.headers.get("access-control-allow-headers"), new RegExp(`\\b${name}\\b`, "i"));
    t.equal(answer.headers.get("access-control-max-age"), "600");
    t.equal(answer.headers.get("ratelimit"), null);
  }
});

await t.test("preflights use up no bucket", async (t) => {
  const headers = { origin, "access-control-request-method": "POST", "x-forwarded-for": "203.0.113.50" };
  for (let i = 0; i < 10; i++) t.equal((await preflight("/api/sm/v1/bootstrap", headers)).status, 204);
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.50" },
    body: '{"name":"a"}',
  };
  const answer = await fetch(`${app.url}/api/sm/v1/bootstrap`, init);
  t.equal(answer.headers.get("ratelimit"), '"strict";r=4;t=60');
});

await t.test("a preflight of another origin gets no permission", async (t) => {
  const answer = await preflight("/api/things", {
    origin: "https://evil.example",
    "access-control-request-method": "PUT",
  });
  t.equal(answer.status, 204);
  for (const name of ["allow-origin", "allow-methods", "allow-headers", "max-age"])
    t.equal(answer.headers.get(`access-control-${name}`), null);
});

await t.test("OPTIONS that is no preflight is a method like another", async (t) => {
  t.equal((await preflight("/api/things", { origin })).status, 404);
  t.equal((await preflight("/api/things", { "access-control-request-method": "PUT" })).status, 404);
});
