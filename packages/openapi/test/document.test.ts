import t from "tap";
import { readDocument } from "../src/document.ts";
import { describe, loadDescription } from "../src/description.ts";
import { writeFiles } from "./small.ts";

await t.test("a reference is replaced by its target, in its own and in other files", (t) => {
  const file = writeFiles(t, {
    "a.yaml": 'one: { $ref: "b.yaml#/x~1y" }\ntwo: { $ref: "#/three", description: mine }\nthree: { type: string }',
    "b.yaml": 'x/y: [{ $ref: "#/deep" }]\ndeep: { $ref: "a.yaml#/three" }',
  });
  t.same(readDocument(file), {
    one: [{ type: "string" }],
    two: { type: "string", description: "mine" },
    three: { type: "string" },
  });
  t.end();
});

await t.test("a reference without a target, in a circle or beside another keyword is refused", (t) => {
  const read = (text: string) => () => readDocument(writeFiles(t, { "a.yaml": text }));
  t.throws(read('a: { $ref: "#/b" }'), /nothing is at #\/b/);
  t.throws(read('a: { $ref: "#/b" }\nb: { $ref: "#/a" }'), /refers to itself/);
  t.throws(read('a: { $ref: "#/b", type: string }\nb: {}'), /type stands beside/);
  t.throws(read('a: { $ref: "missing.yaml#/b" }'), /ENOENT/);
  t.end();
});

await t.test("an operation without a required part is refused", (t) => {
  const of = (operation: object) => () => describe({ paths: { "/x": { get: { ...operation } } } });
  t.doesNotThrow(of({ operationId: "x", "x-bucket": "user", responses: {} }));
  t.throws(of({ "x-bucket": "user", responses: {} }), /operationId/);
  t.throws(of({ operationId: "x", responses: {} }), /x-bucket/);
  const content = { "application/json": { schema: {} } };
  t.throws(of({ operationId: "x", "x-bucket": "user", responses: {}, requestBody: { content } }), /without an example/);
  t.end();
});

await t.test("docs/spec/api is well formed, and operation ids are unique", (t) => {
  const ids = loadDescription().operations.map(({ id }) => id);
  t.ok(ids.length > 30);
  t.equal(new Set(ids).size, ids.length);
  t.end();
});
