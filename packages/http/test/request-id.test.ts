import t from "tap";
import { sendRaw } from "./raw.ts";
import { rows } from "./rows.ts";
import { startApp } from "./start-app.ts";

const app = await startApp(t, rows);
const made = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

await t.test("a valid request id is used and returned in the response", async (t) => {
  for (const id of ["a", "A-z0.9_", "x".repeat(128), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"]) {
    const answer = await fetch(`${app.url}/api/things`, { headers: { "x-request-id": id } });
    t.equal(answer.headers.get("x-request-id"), id);
    t.match(await answer.json(), { request: { id } });
  }
});

await t.test("any other is replaced", async (t) => {
  for (const id of ["", "x".repeat(129), "a b", "a/b", "a,b", "é", '"', "a;b", "\t"]) {
    const answer = await fetch(`${app.url}/api/nothing`, { headers: { "x-request-id": id } });
    t.match(answer.headers.get("x-request-id"), made, JSON.stringify(id));
    t.match(await answer.json(), { request_id: answer.headers.get("x-request-id") });
  }
});

await t.test("several request ids are replaced", async (t) => {
  const text = await sendRaw(
    t,
    app.port,
    "GET /api/things HTTP/1.1\r\nHost: x\r\nX-Request-Id: one\r\nX-Request-Id: two\r\nConnection: close\r\n\r\n",
  );
  t.match(text, /^X-Request-Id: [0-9a-f-]{36}\r$/m);
});

await t.test("each request gets one of its own", async (t) => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${app.url}/api/things`)));
  t.equal(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size, 50);
});

await t.test("a request context has the caller's address, agent and time", async (t) => {
  const before = new Date().toISOString();
  const headers = { "user-agent": "x".repeat(300), "x-forwarded-for": "2001:DB8::1" };
  const { request } = (await (await fetch(`${app.url}/api/things`, { headers })).json()) as {
    request: { time: string };
  };
  t.match(request, { method: "GET", route: "/api/things", ip: "2001:db8::1", userAgent: "x".repeat(256) });
  t.match(request.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  t.ok(request.time.slice(0, 23) >= before.slice(0, 23));
  const bare = await sendRaw(t, app.port, "GET /api/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  t.match(bare, /"userAgent":null/);
});
