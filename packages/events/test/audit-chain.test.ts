import { createHash } from "node:crypto";
import t from "tap";
import {
  type AuditRecord,
  chainAudit,
  type ChainHead,
  firstPreviousHash,
  hashOfAudit,
  verifyAuditChain,
} from "../src/index.ts";
import { draft } from "./drafts.ts";

const empty: ChainHead = { seq: 0, hash: firstPreviousHash };

function chain(length: number): AuditRecord[] {
  const records: AuditRecord[] = [];
  let head = empty;
  for (let index = 0; index < length; index += 1) {
    const record = chainAudit(head, draft({ count: index }));
    records.push(record);
    head = record;
  }
  return records;
}

const without = (records: AuditRecord[], index: number): AuditRecord[] => records.toSpliced(index, 1);
const replaced = (records: AuditRecord[], index: number, fields: Partial<AuditRecord>): AuditRecord[] =>
  records.map((record, at) => (at === index ? { ...record, ...fields } : record));

void t.test("the first record has seq 1 and 64 zeros before it, each next one the hash of the one before", (t) => {
  const [first, second, third] = chain(3);
  t.equal(first?.seq, 1);
  t.equal(first?.prev_hash, "0".repeat(64));
  t.equal(second?.seq, 2);
  t.equal(second?.prev_hash, first?.hash);
  t.equal(third?.prev_hash, second?.hash);
  t.end();
});

void t.test("a whole chain ends in its last record, and an empty one where it began", (t) => {
  const records = chain(50);
  t.same(verifyAuditChain(empty, records), { seq: 50, hash: records[49]?.hash });
  t.same(verifyAuditChain(empty, []), empty);
  t.end();
});

void t.test("a chain can be checked page by page", (t) => {
  const records = chain(10);
  const half = verifyAuditChain(empty, records.slice(0, 5));
  if (!("hash" in half)) throw new Error("the first page is whole");
  t.same(verifyAuditChain(half, records.slice(5)), { seq: 10, hash: records[9]?.hash });
  t.end();
});

void t.test("every changed field of any record is found", (t) => {
  const records = chain(3);
  const changes: Partial<AuditRecord>[] = [
    { id: "019a9e2c-5b60-7c1e-9d3f-2a4b6c8d0e20" },
    { time: "2026-11-20T10:00:00.123457Z" },
    { org_id: null },
    { action: "secret.listed" },
    { outcome: "denied" },
    { reason: "added" },
    { actor: { type: "user", id: "someone else" } },
    { target: { type: "secret", id: null } },
    { source: { ip: null, user_agent: null } },
    { request: { id: "other", method: null, route: null, status: null } },
    { changes: {} },
    { count: 7 },
    { prev_hash: "1".repeat(64) },
    { hash: "1".repeat(64) },
  ];
  for (const change of changes)
    for (const index of [0, 1, 2])
      t.same(
        verifyAuditChain(empty, replaced(records, index, change)),
        { seq: index + 1, problem: "changed" },
        `${Object.keys(change).join()} of record ${index + 1}`,
      );
  t.end();
});

void t.test("a changed record with a recomputed hash breaks the chain at the next record", (t) => {
  const records = chain(3);
  const forged = { ...draft({ count: 99 }), seq: 2, prev_hash: records[0]?.hash ?? "" };
  const all = replaced(records, 1, { ...forged, hash: hashOfAudit(forged) });
  t.same(verifyAuditChain(empty, all), { seq: 3, problem: "changed" });
  t.end();
});

void t.test("a field added to a stored record is found, also one that this version does not know", (t) => {
  const records = chain(2);
  const all = replaced(records, 0, { note: "innocent" } as Partial<AuditRecord>);
  t.same(verifyAuditChain(empty, all), { seq: 1, problem: "changed" });
  t.end();
});

void t.test("text without a canonical form is a change, not a crash", (t) => {
  const all = replaced(chain(1), 0, { reason: "\ud800" });
  t.same(verifyAuditChain(empty, all), { seq: 1, problem: "changed" });
  t.throws(() => hashOfAudit({ ...draft({ reason: "\ud800" }), seq: 1, prev_hash: firstPreviousHash }));
  t.end();
});

void t.test("a removed record is missing, the first one too", (t) => {
  const records = chain(5);
  for (const index of [0, 1, 3])
    t.same(verifyAuditChain(empty, without(records, index)), { seq: index + 1, problem: "missing" });
  t.end();
});

void t.test("records cut off at the end are seen in the head alone", (t) => {
  const records = chain(5);
  t.same(verifyAuditChain(empty, records.slice(0, 3)), { seq: 3, hash: records[2]?.hash });
  t.end();
});

void t.test("two records that changed places, or one that came twice, are reordered", (t) => {
  const [a, b, c, d] = chain(4);
  if (!a || !b || !c || !d) throw new Error("a chain of four");
  t.same(verifyAuditChain(empty, [a, c, b, d]), { seq: 2, problem: "reordered" });
  t.same(verifyAuditChain(empty, [b, a, c, d]), { seq: 1, problem: "reordered" });
  t.same(verifyAuditChain(empty, [a, b, b, c]), { seq: 2, problem: "reordered" });
  t.same(verifyAuditChain(empty, [a, d, b, c]), { seq: 2, problem: "reordered" });
  t.end();
});

void t.test("renumbering does not hide a removed record", (t) => {
  const [a, , c] = chain(3);
  if (!a || !c) throw new Error("a chain of three");
  t.same(verifyAuditChain(empty, [a, { ...c, seq: 2 }]), { seq: 2, problem: "changed" });
  t.end();
});

void t.test("the hash does not depend on the order of members, nor on members that are undefined", (t) => {
  const placed = { ...draft(), seq: 1, prev_hash: firstPreviousHash };
  const turned = Object.fromEntries(Object.entries(placed).reverse()) as typeof placed;
  t.equal(hashOfAudit(turned), hashOfAudit(placed));
  t.equal(hashOfAudit({ ...placed, reason: undefined, count: undefined }), hashOfAudit(placed));
  t.equal(hashOfAudit(JSON.parse(JSON.stringify(placed)) as typeof placed), hashOfAudit(placed), "after storage");
  t.end();
});

void t.test("the canonical form is that of RFC 8785: names sorted by UTF-16 unit, numbers as in ECMAScript", (t) => {
  // The names of the RFC's own example (section 3.2.3), in the order that it demands.
  const ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
  const changes = Object.fromEntries(ordered.toReversed().map((name, index) => [name, index]));
  const numbers = { ...changes, "~": [`"\\\u000f`].join(""), "\uffff": 1e21 };
  const placed = { ...draft({ changes: numbers }), seq: 1, prev_hash: firstPreviousHash };
  const inside = [
    '"\\r":6,"1":5,"~":"\\"\\\\\\u000f"',
    '"\u0080":4,"\u00f6":3,"\u20ac":2,"\u{1f600}":1,"\ufb33":0,"\uffff":1e+21',
  ].join(",");
  const canonical =
    '{"action":"secret.read","actor":{"id":"019a9e10-1111-7111-8111-111111111111","type":"client"},' +
    `"changes":{${inside}},"id":"019a9e2c-5b60-7c1e-9d3f-2a4b6c8d0e1f",` +
    '"org_id":"019a9e00-0000-7000-8000-0000000000a1","outcome":"success",' +
    `"prev_hash":"${firstPreviousHash}",` +
    '"request":{"id":"r-1","method":"GET","route":"/api/sm/v1/secrets/:uid","status":200},"schema":"coffer.audit/1",' +
    '"seq":1,"source":{"ip":"203.0.113.7","user_agent":"curl/8"},' +
    '"target":{"id":"Qm9vb2tGb29CYXJCYXpRdQ","type":"secret"},"time":"2026-11-20T10:00:00.123456Z"}';
  t.equal(hashOfAudit(placed), createHash("sha256").update(canonical, "utf8").digest("hex"));
  t.end();
});
