import t from "tap";
import { z } from "zod";
import { anyone, nameText, pageLimit, route } from "../src/index.ts";
import { readQuery } from "../src/read-query.ts";
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

async function ask(query: string): Promise<{ status: number; query: unknown }> {
  const answer = await fetch(`${app.url}/api/search?${query}`);
  return { status: answer.status, query: ((await answer.json()) as { query: unknown }).query };
}

await t.test("a query is decoded once", async (t) => {
  t.match(await ask("title=a+b%20c%2B%26%3D%252F%C3%A9"), { query: { title: "a b c+&=%2Fé" } });
  t.match(await ask(""), { status: 200, query: {} });
  t.match(await ask("title=%25_"), { query: { title: "%_" } });
});

await t.test("a parameter that comes twice is 400", async (t) => {
  t.equal((await ask("title=a&title=b")).status, 400);
  t.equal((await ask("title=a&title=a&title=a")).status, 400);
  t.equal((await ask("limit=1&limit=1")).status, 400);
  t.equal((await ask("other=1&other=2")).status, 200, "unknown ones are ignored");
});

await t.test("a bad value is 400 with its name", async (t) => {
  for (const bad of ["0", "1001", "-1", "1.5", "01", "1e2", "", "x", " 1", "９"]) {
    const answer = await fetch(`${app.url}/api/search?limit=${encodeURIComponent(bad)}`);
    t.equal(answer.status, 400, JSON.stringify(bad));
    t.match(await answer.json(), { error: "invalid_request", details: [{ field: "limit", issue: String }] });
  }
  t.equal((await ask("title=")).status, 400);
  t.equal((await ask("title=%00")).status, 400);
  t.equal((await ask(`title=${"x".repeat(257)}`)).status, 400);
});

await t.test("numbers at the edges of a page are taken", async (t) => {
  t.match(await ask("limit=1"), { query: { limit: 1 } });
  t.match(await ask("limit=1000"), { query: { limit: 1000 } });
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
    t.match(await ask(text), { status: 200, query: {} }, text);
  t.equal(Object.hasOwn(Object.prototype, "x"), false);
  const loose = await fetch(`${app.url}/api/loose?toString=x&constructor=y&hasOwnProperty=z`);
  t.match(await loose.json(), { query: { toString: "x", constructor: "y", hasOwnProperty: "z" } });
});

await t.test("a query that is not well formed is text", async (t) => {
  t.match(await ask("title=%zz"), { status: 200, query: { title: "%zz" } });
  t.match(await ask("&&=&title=a&"), { status: 200, query: { title: "a" } });
  t.equal((await ask("title=%ff")).status, 200);
});

await t.test("a name that comes very often costs no more than many names", (t) => {
  const cpuOf = (names: readonly string[]): number => {
    const url = `/?${names.join("&")}`;
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) readQuery(url);
    return process.cpuUsage(before).user;
  };
  const distinct = Array.from({ length: 7_500 }, (_, i) => `a${i}`);
  cpuOf(distinct); // compiled by now
  const [many, one] = [cpuOf(distinct), cpuOf(distinct.map(() => "a"))];
  t.ok(one < 4 * many, `${one} µs against ${many} µs of CPU`);
  t.same(readQuery("/?a=1&a=2&b&a=3"), { a: ["1", "2", "3"], b: "" });
  t.end();
});

await t.test("a route without a query ignores it", async (t) => {
  t.equal((await fetch(`${app.url}/api/plain?limit=x&a=1&a=2&%zz`)).status, 200);
});
