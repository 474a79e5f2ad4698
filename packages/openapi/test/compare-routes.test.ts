import { anyone, nameText, pageLimit, route } from "@coffer/http";
import t from "tap";
import { z } from "zod";
import { type DescribedRoute, routeProblems } from "../src/index.ts";
import { smallDescription } from "./small.ts";

const description = smallDescription(t);
const plain = { bucket: "user", caller: anyone, run: () => Promise.resolve({}) } as const;
const body = z.object({ name: nameText(), kind: z.enum(["a", "b"]).optional() });

const create = route({
  ...plain,
  caller: () => ({ kind: "person" }),
  method: "POST",
  path: "/api/things",
  body,
  status: 201,
});
const first = route({ ...plain, method: "GET", path: "/api/things/first", status: 204 });
const anything = route({ ...plain, method: "POST", path: "/api/things/any", body: "raw", status: 204 });
const read = route({
  ...plain,
  method: "GET",
  path: "/api/things/:id",
  query: z.object({ limit: pageLimit.optional() }),
  status: 200,
});

/** The differences if this is the first route, the only one with a caller. */
function problems(creating: DescribedRoute, others: DescribedRoute[] = [first]): string[] {
  // Reading has two described successes, which no route can have: it is not compared.
  return routeProblems(description, [creating, read, anything, ...others], (one) =>
    one === creating ? ["person"] : [],
  ).filter((problem) => !problem.startsWith("GET /api/things/{id}: success"));
}

await t.test("a table that matches the description has no problems", (t) => {
  t.same(problems(create), []);
  t.end();
});

await t.test("a route without a description and a description without a route are problems", (t) => {
  const extra = route({ ...plain, method: "DELETE", path: "/api/things/:id", status: 204 });
  t.same(problems(create, [first, extra]), ["DELETE /api/things/{id} has a route and no description in docs/spec/api"]);
  t.same(problems(create, []), ["GET /api/things/first is described and has no route"]);
  t.end();
});

await t.test("every difference in form is a problem", (t) => {
  const differing: [changes: Partial<DescribedRoute>, problem: RegExp][] = [
    [{ bucket: "strict" }, /bucket is strict, described user/],
    [{ status: 200 }, /success is 200, described 201/],
    [{ bodyLimitBytes: 5 }, /limit is 5 bytes/],
    [{ body: undefined }, /body is described otherwise/],
    [{ query: z.object({ q: z.string().optional() }) }, /query\.q is not described/],
    [{ body: body.extend({ more: z.string().optional() }) }, /body\.more is not described/],
    [{ body: body.omit({ kind: true }) }, /body\.kind is described and not known/],
    [{ body: body.partial() }, /body\.name is not required/],
    [{ body: body.required() }, /body\.kind is required/],
    [{ body: body.extend({ kind: z.enum(["a"]).optional() }) }, /body\.kind is one of \["a"\]/],
    [{ body: body.extend({ name: z.int() }) }, /body\.name is "integer", described "string"/],
  ];
  for (const [changes, problem] of differing) t.match(problems({ ...create, ...changes }), [problem], String(problem));
  t.match(
    routeProblems(description, [create, first, read], () => []),
    [/the caller is none, described person/],
    "the caller",
  );
  t.end();
});
