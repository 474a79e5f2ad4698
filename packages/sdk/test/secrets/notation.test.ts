import assert from "node:assert/strict";
import { brokenText, hostileText } from "@coffer/testkit/hostile-text";
import fc from "fast-check";
import t from "tap";
import { CofferError, formatNotation, parseNotation } from "../../src/index.ts";

await t.test("a notation is split on slashes and then percent-decoded", (t) => {
  t.same(parseNotation("coffer://production/database/field/password"), {
    folder: "production",
    title: "database",
    field: "password",
  });
  t.same(parseNotation("coffer://a%2Fb/c%20d/field/e%25f"), { folder: "a/b", title: "c d", field: "e%f" });
  t.end();
});

for (const [what, text] of [
  ["three parts", "coffer://production/database/password"],
  ["five parts", "coffer://production/database/field/password/more"],
  ["an empty folder", "coffer:///database/field/password"],
  ["an empty field", "coffer://production/database/field/"],
  ["another literal", "coffer://production/database/fields/password"],
  ["another scheme", "vault://production/database/field/password"],
  ["a scheme in capitals", "COFFER://production/database/field/password"],
  ["a percent sign that starts no escape", "coffer://production/100%/field/password"],
  ["an escape that is not UTF-8", "coffer://production/%ff/field/password"],
  ["nothing", ""],
] as const)
  await t.test(`a notation with ${what} is refused`, (t) => {
    t.throws(() => parseNotation(text), { name: "CofferError", code: "invalid_request" });
    t.end();
  });

await t.test("what formatNotation writes, parseNotation reads, whatever the names hold", (t) => {
  const name = hostileText.filter((text) => text !== "");
  const property = fc.property(name, name, name, (folder, title, field) => {
    const text = formatNotation({ folder, title, field });
    assert.deepEqual(parseNotation(text), { folder, title, field });
    assert.doesNotMatch(text, /[\s{}\p{Cc}\p{Cf}]/u, "a template and a terminal take it as it is");
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("any other text is refused with an error of the SDK", (t) => {
  const property = fc.property(fc.constantFrom("", "coffer://", "coffer://a/b/field/"), brokenText, (start, text) => {
    try {
      parseNotation(start + text);
    } catch (error) {
      assert.ok(error instanceof CofferError);
    }
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("an error of a notation is a CofferError that does not throw away the reason", (t) => {
  try {
    parseNotation("coffer://x");
    t.fail("accepted");
  } catch (error) {
    t.ok(error instanceof CofferError);
    t.match((error as Error).message, /1 part instead of four/);
  }
  t.end();
});
