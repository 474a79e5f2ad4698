import t from "tap";
import { z } from "zod";
import { anyone, nameText, pageLimit, route } from "../src/index.ts";
import { readQuery } from "../src/request/read-query.ts";
import { sendRaw } from "./raw.ts";
import { echo } from "./rows.ts";
import { startApp } from "./start-app.ts";

const query = z.object({ title: nameText(256).optional(), limit: pageLimit.optional() });
const app = await startApp(t, [
  route({ method: "GET", path: "/api/search", bucket: "user", caller: anyone, query, status: 200, run: echo }),
  route({
    ...({ method: "GET", path: "/api/loose", bucket: "user", caller: anyone, status: 200 } as const),
    query: z.looseObject({}),
    run: echo,
  }),
  route({ method: "GET", path: "/api/plain", bucket: "user", caller: anyone, status: 200, run: echo }),
]);

async function read(query: string): Promise<{ status: number; query: unknown }> {
  const answer = await fetch(`${app.url}/api/search?${query}`);
  return { status: answer.status, query: ((await answer.json()) as { query: unknown }).query };
}

await t.test("a query is decoded once", async (t) => {
  t.match(await read("title=a+b%20c%2B%26%3D%252F%C3%A9"), { query: { title: "a b c+&=%2Fé" } });
  t.match(await read(""), { status: 200, query: {} });
  t.match(await read("title=%25_"), { query: { title: "%_" } });
});

await t.test("a parameter that comes twice is 400", async (t) => {
  t.equal((await read("title=a&title=b")).status, 400);
  t.equal((await read("title=a&title=a&title=a")).status, 400);
  t.equal((await read("limit=1&limit=1")).status, 400);
  t.equal((await read("other=1&other=2")).status, 200, "unknown ones are ignored");
});

await t.test("a bad value is 400 with its name", async (t) => {
  for (const bad of ["0", "1001", "-1", "1.5", "01", "1e2", "", "x", " 1", "９"]) {
    const answer = await fetch(`${app.url}/api/search?limit=${encodeURIComponent(bad)}`);
    t.equal(answer.status, 400, JSON.stringify(bad));
    t.match(await answer.json(), { error: "invalid_request", details: [{ field: "limit", issue: String }] });
  }
  t.equal((await read("title=")).status, 400);
  t.equal((await read("title=%00")).status, 400);
  t.equal((await read(`title=${"x".repeat(257)}`)).status, 400);
});

await t.test("numbers at the edges of a page are taken", async (t) => {
  t.match(await read("limit=1"), { query: { limit: 1 } });
  t.match(await read("limit=1000"), { query: { limit: 1000 } });
});

await t.test("brackets and names of prototypes are names like others", async (t) => {
  for (const text of [
    "title[a]=b",
    "__proto__=x",
    "__proto__[x]=y",
    "constructor=x",
    "title[__proto__][x]=y",
    "toString=x",
  ])
    t.match(await read(text), { status: 200, query: {} }, text);
  t.equal(Object.hasOwn(Object.prototype, "x"), false);
  const loose = await fetch(`${app.url}/api/loose?toString=x&constructor=y&hasOwnProperty=z`);
  t.match(await loose.json(), { query: { toString: "x", constructor: "y", hasOwnProperty: "z" } });
});

await t.test("empty pairs are nothing", async (t) => {
  t.match(await read("&&=&title=a&"), { status: 200, query: { title: "a" } });
});

await t.test("percent-encoding that is not UTF-8 is 400 with only the parameter's name", async (t) => {
  for (const [sent, field] of [
    ...["%zz", "%", "a%2", "%ff", "%E0%A4%A", "%E0%A4", "%c0%af", "%ed%a0%80", "%f4%90%80%80"].map(
      (bad) => [`title=${bad}&limit=1`, "title"] as const,
    ),
    ["limit=1&%74itle=%ff", "title"],
    ["limit=%ff1", "limit"],
    ["title=a&other=%zz", "other"],
    ["title=%C3&limit=%A9", "title"],
    ["title=%C3=%A9", "title"],
    ["%ff=a", "query"],
    ["%=a&title=%ff", "query"],
    ["Not-Ours=%ff", "query"],
    ["%zz", "query"],
  ] as const) {
    const answer = await fetch(`${app.url}/api/search?${sent}`);
    t.equal(answer.status, 400, sent);
    t.match(await answer.json(), {
      error: "invalid_request",
      details: [{ field, issue: "must be UTF-8 in percent-encoding" }],
    });
  }
  const raw = `GET /api/search?title=\u00e9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  t.match(await sendRaw(t, app.port, raw), /^HTTP\/1\.1 400 [^]*"invalid_request"/, "bytes that are not encoded");
  t.match(await read("title=%F0%9F%94%91%EF%BF%BD"), { status: 200, query: { title: "🔑\ufffd" } });
});

await t.test("a name that comes very often costs no more than many names", (t) => {
  const cpuOf = (names: readonly string[]): number => {
    const url = `/?${names.join("&")}`;
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) readQuery(url);
    return process.cpuUsage(before).user;
  };
  const distinct = Array.from({ length: 7_500 }, (_, i) => `a${i}`);
  // Compiled by now.
  const [many, one] = [cpuOf(distinct), cpuOf(distinct.map(() => "a"))];
  t.ok(one < 4 * many, `${one} µs against ${many} µs of CPU`);
  t.same(readQuery("/?a=1&a=2&b&a=3"), { a: ["1", "2", "3"], b: "" });
  t.end();
});

await t.test("a route without a query ignores it", async (t) => {
  t.equal((await fetch(`${app.url}/api/plain?limit=x&a=1&a=2&%zz`)).status, 200);
});
