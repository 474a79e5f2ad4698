import t from "tap";
import { anyone, notModified, route, tagged } from "../src/index.ts";
import { echo } from "./rows.ts";
import { startApp } from "./start-app.ts";

const app = await startApp(t, [
  route({
    ...({ method: "GET", path: "/api/versioned", bucket: "user", caller: anyone, status: 200 } as const),
    run: (_deps: object, { held }) =>
      Promise.resolve(held.includes("7") || held.includes("*") ? notModified("7") : tagged("7", { version: 7 })),
  }),
  route({ method: "PUT", path: "/api/echo", bucket: "user", caller: anyone, status: 200, run: echo }),
  route({
    method: "GET",
    path: "/api/broken",
    bucket: "user",
    caller: anyone,
    status: 200,
    run: () => Promise.resolve(tagged("a\r\nb", {})),
  }),
]);

await t.test("an answer carries its tag", async (t) => {
  const answer = await fetch(`${app.url}/api/versioned`);
  t.equal(answer.headers.get("etag"), '"7"');
  t.strictSame(await answer.json(), { version: 7 });
});

await t.test("a caller that holds the present version gets 304 without a body", async (t) => {
  for (const held of ['"7"', 'W/"7"', '"5", "7"', '"5",W/"7" , "9"', "*", ' "7" ']) {
    const answer = await fetch(`${app.url}/api/versioned`, { headers: { "if-none-match": held } });
    t.equal(answer.status, 304, held);
    t.equal(await answer.text(), "");
    t.equal(answer.headers.get("etag"), '"7"');
    t.equal(answer.headers.get("content-length"), null);
    t.equal(answer.headers.get("content-type"), null);
    t.match(answer.headers.get("ratelimit"), /^"user";/);
    t.equal(answer.headers.get("cache-control"), "no-store");
  }
});

await t.test("a caller with another version or an unreadable header gets the whole response", async (t) => {
  for (const held of ['"6"', '"77"', "7", '"7', "", '" 7"', "x".repeat(5000)])
    t.equal((await fetch(`${app.url}/api/versioned`, { headers: { "if-none-match": held } })).status, 200, held);
});

async function expected(header: string): Promise<{ status: number; expected?: unknown }> {
  const answer = await fetch(`${app.url}/api/echo`, { method: "PUT", headers: { "if-match": header } });
  return { status: answer.status, expected: ((await answer.json()) as { expected?: unknown }).expected };
}

await t.test("If-Match is one tag", async (t) => {
  t.match(await expected('"7"'), { status: 200, expected: "7" });
  t.match(await expected("7"), { status: 200, expected: "7" });
  t.match(await expected('"2026-11-20T10:00:00.123456Z"'), { expected: "2026-11-20T10:00:00.123456Z" });
  t.match(await expected("*"), { status: 200, expected: undefined });
  t.match(await expected('W/"7"'), { expected: 'W/"7"' }, "a weak tag equals no version");
  t.match(await expected('"7", "8"'), { status: 400 });
  t.match(await expected(""), { status: 400 });
});

await t.test("a malformed tag of an operation is a 500", async (t) => {
  const answer = await fetch(`${app.url}/api/broken`);
  t.equal(answer.status, 500);
  t.equal(answer.headers.get("etag"), null);
});
