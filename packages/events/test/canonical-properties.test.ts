import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { type AuditRecord, chainAudit, verifyAuditChain } from "../src/index.ts";
import { canonicalAudit, firstPreviousHash } from "../src/verify-chain.ts";
import { draft } from "./drafts.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "\u2028",
    "\0",
    "\u001b",
    "\u007f",
    '"\\',
    "é",
    "e\u0301",
    "\uffff",
    "\u{10000}",
    "__proto__",
    "10",
    "9",
  ),
);

const canonical = (value: object): string => canonicalAudit(value as AuditRecord);

/** RFC 8785 in four lines: the names in order of UTF-16 code units, the rest as JSON.stringify. */
function plainly(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(plainly).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${plainly(each)}`).join(",")}}`;
}

const scalar = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie("value"), { maxLength: 3 }), tie("object")),
  object: fc.dictionary(
    text.filter((name) => name !== "hash"),
    tie("value"),
    { maxKeys: 4, noNullPrototype: true },
  ),
}));

await t.test("the canonical form is that of RFC 8785, whatever order the members have", (t) => {
  const property = fc.property(object, (given) => {
    const written = canonical(given);
    assert.equal(written, plainly(given));
    assert.equal(canonical(Object.fromEntries(Object.entries(given).reverse())), written);
    assert.equal(canonical(JSON.parse(written) as object), written, "it is JSON, and its own canonical form");
  });
  fc.assert(property, { numRuns: 300 });
  t.pass();
  t.end();
});

await t.test("a chain holds, and any changed text in it breaks it at that record", (t) => {
  const agents = fc.array(text, { minLength: 1, maxLength: 5 });
  const property = fc.property(
    agents,
    fc.nat(),
    fc.oneof(
      text,
      text.map((each) => `${each}\ud800`),
    ),
    (texts, place, other) => {
      const first = { seq: 0, hash: firstPreviousHash };
      const records: AuditRecord[] = [];
      for (const user_agent of texts)
        records.push(chainAudit(records.at(-1) ?? first, draft({ source: { ip: null, user_agent } })));
      const { seq = 0, hash = "" } = records.at(-1) ?? {};
      assert.deepEqual(verifyAuditChain(first, records), { seq, hash });
      const at = place % texts.length;
      if (other === texts[at]) return;
      const changed = records.map((each, index) =>
        index === at ? { ...each, source: { ip: null, user_agent: other } } : each,
      );
      assert.deepEqual(verifyAuditChain(first, changed), { seq: at + 1, problem: "changed" });
    },
  );
  fc.assert(property, { numRuns: 100 });
  t.pass();
  t.end();
});
