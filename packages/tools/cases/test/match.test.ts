import t from "tap";
import { match } from "../src/match.ts";

const holds: [value: unknown, wanted: unknown][] = [
  [1, 1],
  [null, null],
  ["a", "a"],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: { b: [1] } }, { a: { b: [1] } }],
  [[], []],
  [undefined, { $absent: true }],
  [{}, { a: { $absent: true } }],
  [5, { $type: "integer" }],
  [5.5, { $type: "number" }],
  [null, { $type: "null" }],
  [[], { $type: "array" }],
  [{}, { $type: "object" }],
  ["2026-11-20T10:00:00.123456Z", { $timestamp: true }],
  ["AAA=", { $base64: true }],
  ["0195e2d0-0000-7000-8000-000000000000", { $is_uuid: true }],
  ["abc", { $matches: "^a.c$" }],
  ["b", { $not: "a" }],
  ["2026-11-20T10:00:00.000002Z", { $after: "2026-11-20T10:00:00.000001Z" }],
  ["60", { $from: 1, $to: 60 }],
  [[1, 2], { $length: 2 }],
  [[{ a: 1 }, { a: 2 }], { $includes: { a: 2 } }],
  [[{ a: 1 }], { $excludes: { a: 2 } }],
  [[{ a: 1, b: 1 }, { a: 1 }], { $each: { a: 1 } }],
  [{ b: 1, a: 2 }, { $keys: ["a", "b"] }],
  [[1], { $all: [{ $length: 1 }, { $includes: 1 }] }],
];

const fails: [value: unknown, wanted: unknown][] = [
  [1, 2],
  [1, "1"],
  [undefined, null],
  [null, {}],
  [[], {}],
  ["text", { a: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1 }, { a: { $absent: true } }],
  [[1, 2], [1]],
  [[1], [1, 2]],
  [
    [2, 1],
    [1, 2],
  ],
  [{ 0: 1, length: 1 }, [1]],
  ["5", { $type: "integer" }],
  [5.5, { $type: "integer" }],
  [null, { $type: "object" }],
  [[], { $type: "object" }],
  ["2026-11-20T10:00:00.123Z", { $timestamp: true }],
  ["2026-11-20T10:00:00.123456+00:00", { $timestamp: true }],
  ["2026-13-20T10:00:00.123456Z", { $timestamp: true }],
  ["", { $base64: true }],
  ["AAA", { $base64: true }],
  ["_-__", { $base64: true }],
  ["x", { $is_uuid: true }],
  [7, { $matches: "7" }],
  ["abd", { $matches: "^a.c$" }],
  ["a", { $not: "a" }],
  ["2026-11-20T10:00:00.000001Z", { $after: "2026-11-20T10:00:00.000001Z" }],
  ["0", { $from: 1, $to: 60 }],
  ["61", { $from: 1, $to: 60 }],
  [undefined, { $from: 1 }],
  [null, { $to: 1 }],
  ["", { $to: 1 }],
  [[1], { $length: 2 }],
  ["ab", { $length: 2 }],
  [[{ a: 1 }], { $includes: { a: 2 } }],
  [undefined, { $includes: 1 }],
  [[{ a: 1 }, { a: 2 }], { $excludes: { a: 2 } }],
  [undefined, { $excludes: 1 }],
  [[{ a: 1 }, { a: 2 }], { $each: { a: 1 } }],
  [undefined, { $each: { a: 1 } }],
  [{ a: 1 }, { $keys: ["a", "b"] }],
  [{ a: 1, b: 2 }, { $keys: ["a"] }],
  [undefined, { $keys: [] }],
  [[1], { $all: [{ $length: 1 }, { $includes: 2 }] }],
];

await t.test("a matching value passes", (t) => {
  for (const [value, wanted] of holds)
    t.doesNotThrow(() => match(value, wanted, "it"), JSON.stringify([value, wanted]));
  t.end();
});

await t.test("another value fails, with its place in the message", (t) => {
  for (const [value, wanted] of fails)
    t.throws(
      () => match(value, wanted, "it"),
      { name: "CaseFailure", message: /^it/ },
      JSON.stringify([value, wanted]),
    );
  t.throws(() => match({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, "the body"), {
    message: "the body.a[0].b is 1, expected 2",
  });
  t.end();
});

await t.test("an unknown check is a mistake of the case, also within a list", (t) => {
  t.throws(() => match(1, { $odd: true }, "it"), TypeError);
  t.throws(() => match([1], { $excludes: { $odd: true } }, "it"), TypeError);
  t.end();
});
