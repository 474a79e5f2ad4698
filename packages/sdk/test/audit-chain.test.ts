import { type AuditDraft, type AuditRecord, chainAudit, firstPreviousHash, verifyAuditChain } from "@coffer/events";
import t from "tap";
import { checkChain, type Follow } from "../src/audit/audit-chain.ts";
import type { AuditHead, AuditPage } from "../src/audit/audit-pages.ts";

function draft(number: number, more: Partial<AuditDraft> = {}): AuditDraft {
  return {
    schema: "coffer.audit/1",
    id: `0190c0de-0000-7000-8000-${String(number).padStart(12, "0")}`,
    time: "2026-11-20T10:00:00.000000Z",
    org_id: "org",
    action: "secret.read",
    outcome: "success",
    actor: { type: "client", id: "c" },
    target: { type: "secret", id: "s" },
    source: { ip: "127.0.0.1", user_agent: null },
    request: { id: "r", method: "GET", route: "/", status: 200 },
    ...more,
  };
}

function chain(drafts: AuditDraft[]): AuditRecord[] {
  const records: AuditRecord[] = [];
  let head = { seq: 0, hash: firstPreviousHash };
  for (const one of drafts) {
    const record = chainAudit(head, one);
    records.push(record);
    head = { seq: record.seq, hash: record.hash };
  }
  return records;
}

const follow: Follow = (head, record) => verifyAuditChain(head, [record as AuditRecord]);

const check = (pages: AsyncIterable<AuditPage>, expected?: AuditHead) => checkChain(pages, { expected, follow });

/** Pages as the service gives them; with the end of what they hold unless another is given. */
async function* pages(records: unknown[], end = endOf(records)): AsyncGenerator<AuditPage> {
  for (let at = 0; at < Math.max(records.length, 1); at += 2) {
    await Promise.resolve();
    yield { records: records.slice(at, at + 2), head: end };
  }
}

function endOf(records: unknown[]): AuditPage["head"] {
  const last = records.at(-1) as AuditRecord | undefined; // or what a test puts in its place
  return last === undefined ? null : { seq: last.seq, hash: last.hash };
}

const whole = chain([1, 2, 3, 4, 5].map((number) => draft(number)));
const head = { seq: 5, hash: whole[4]?.hash ?? "" };

await t.test("an unchanged chain over several pages is whole", async (t) => {
  t.same(await check(pages(whole)), { head, broken: undefined, gaps: [] });
  t.same(await check(pages([])), {
    head: { seq: 0, hash: firstPreviousHash },
    broken: undefined,
    gaps: [],
  });
});

for (const [what, records, seq, problem] of [
  ["changed", whole.map((one) => (one.seq === 3 ? { ...one, outcome: "denied" as const } : one)), 3, /changed/],
  ["removed from the middle", whole.filter(({ seq }) => seq !== 2), 2, /^missing$/],
  ["removed from the start", whole.slice(1), 1, /^missing$/],
  ["put elsewhere", [whole[0], whole[2], whole[3], whole[1], whole[4]], 2, /^reordered$/],
  ["doubled", [whole[0], whole[0], ...whole.slice(1)], 1, /reordered/],
  ["replaced by something else", [whole[0], "text"], 2, /not a record/],
] as const)
  await t.test(`a record that was ${what} is found with its place`, async (t) => {
    t.match((await check(pages([...records]))).broken, { seq, problem });
  });

await t.test("records cut off the end are found by the end that the service names", async (t) => {
  t.match(await check(pages(whole.slice(0, 3), head)), {
    head: { seq: 3 },
    broken: { seq: 4, problem: /cut short, its end is record 5/ },
  });
  t.match((await check(pages([], head))).broken, { seq: 1, problem: /cut short/ });
});

await t.test("an end that is not the one that the service names is found", async (t) => {
  for (const named of [{ ...head, hash: "0".repeat(64) }, { seq: 4, hash: whole[3]?.hash ?? "" }, null])
    t.match((await check(pages(whole, named))).broken, { seq: 5, problem: /not the record/ });
});

await t.test("records that come while the chain is read belong to it", async (t) => {
  async function* growing(): AsyncGenerator<AuditPage> {
    yield* pages(whole.slice(0, 4));
    yield* pages(whole.slice(4), head);
  }
  t.match(await check(growing()), { head, broken: undefined });
});

await t.test("records cut off the end without a trace are found by a head that was seen before", async (t) => {
  const cut = whole.slice(0, 3);
  t.equal((await check(pages(cut))).broken, undefined, "without it they cannot be");
  t.match((await check(pages(cut), head)).broken, { seq: 4, problem: /missing/ });
  t.equal((await check(pages(whole), head)).broken, undefined);
  t.equal((await check(pages(whole), { seq: 2, hash: whole[1]?.hash ?? "" })).broken, undefined);
});

await t.test("a rewritten chain is found by a head that was seen before", async (t) => {
  const forged = chain([1, 2, 3, 4, 5].map((number) => draft(number, { outcome: "denied" })));
  t.match((await check(pages(forged), { seq: 2, hash: whole[1]?.hash ?? "" })).broken, { seq: 2 });
});

await t.test("gaps that the service recorded are reported with their times and count", async (t) => {
  const changes = { from: "2026-11-19T00:00:00Z", to: "2026-11-20T00:00:00Z" };
  const records = chain([draft(1), draft(2, { action: "audit.gap", changes, count: 7 })]);
  t.same((await check(pages(records))).gaps, [{ seq: 2, ...changes, count: 7 }]);
});
