import { randomUUID } from "node:crypto";
import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import pg from "pg";
import t from "tap";
import { draftsOf } from "../delivery/draft.ts";
import { startForwarder, startStores } from "../forwarder.ts";

// What was tampered with has not the form that is described.
const { postgres, people, append, list, listAll } = await startForwarder(t, await startStores(t), fetch);
const database = new pg.Client({ connectionString: postgres.url, options: "-c search_path=siem_forwarder" });
await database.connect();
t.teardown(() => database.end());

const empty = { seq: 0, hash: firstPreviousHash };

/** Ten records; runs a statement against the table as its owner could; says what verification finds. */
async function tamper(statement: string) {
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  await append(draftsOf(orgId, 10));
  const whole = verifyAuditChain(empty, await listAll(owner));
  await database.query(statement.replaceAll("$org", `'${orgId}'`));
  const { body } = await list(owner, { limit: 1000 });
  return { orgId, owner, whole, head: body.head, found: verifyAuditChain(empty, body.data) };
}

await t.test("an untouched chain is whole", async (t) => {
  const { whole, found, head } = await tamper("SELECT");
  t.match(whole, { seq: 10 });
  t.same(found, whole);
  t.same(head, whole);
});

await t.test("a changed field is found", async (t) => {
  const { found } = await tamper(
    `UPDATE audit_records SET record = replace(record::text, '"status":200', '"status":403')::json
     WHERE chain_id = $org AND seq = 4`,
  );
  t.same(found, { seq: 4, problem: "changed" });
});

await t.test("a field that was added or taken away is found", async (t) => {
  for (const [from, to] of [
    ['"count":', '"counted":'],
    ['"outcome":"success"', '"outcome":"success","reason":"allowed"'],
    [',"user_agent":', ',"agent":'],
  ] as const) {
    const { found } = await tamper(
      `UPDATE audit_records SET record = replace(replace(record::text, '"seq":6', '"count":1,"seq":6'), '${from}', '${to}')::json
       WHERE chain_id = $org AND seq = 6`,
    );
    t.same(found, { seq: 6, problem: "changed" });
  }
});

await t.test("a changed record with a hash to match is found at the next one", async (t) => {
  const { orgId, owner } = await tamper("SELECT");
  const records = await listAll(owner);
  const [third, fourth] = [records[2], records[3]];
  if (third === undefined || fourth === undefined) throw new Error("there are ten");
  const forged = { ...fourth, outcome: "denied" as const };
  const { hashOfAudit } = await import("@coffer/events");
  await database.query("UPDATE audit_records SET record = $2 WHERE chain_id = $1 AND seq = 4", [
    orgId,
    JSON.stringify({ ...forged, hash: hashOfAudit(forged) }),
  ]);
  t.same(verifyAuditChain(empty, await listAll(owner)), { seq: 5, problem: "changed" });
});

await t.test("a removed row is found", async (t) => {
  const { found } = await tamper("DELETE FROM audit_records WHERE chain_id = $org AND seq = 7");
  t.same(found, { seq: 7, problem: "missing" });
});

await t.test("a removed row whose gap was closed is found", async (t) => {
  const { found } = await tamper(
    `DELETE FROM audit_records WHERE chain_id = $org AND seq = 7;
     UPDATE audit_records SET seq = seq - 1 WHERE chain_id = $org AND seq > 7`,
  );
  t.same(found, { seq: 7, problem: "missing" });
});

await t.test("the newest rows removed: the chain ends before its head", async (t) => {
  const { found, head } = await tamper("DELETE FROM audit_records WHERE chain_id = $org AND seq > 8");
  t.match(found, { seq: 8 });
  t.match(head, { seq: 10 });
});

await t.test("swapped rows are found", async (t) => {
  const { found } = await tamper(
    `UPDATE audit_records SET seq = 1003 WHERE chain_id = $org AND seq = 3;
     UPDATE audit_records SET seq = 3 WHERE chain_id = $org AND seq = 5;
     UPDATE audit_records SET seq = 5 WHERE chain_id = $org AND seq = 1003`,
  );
  t.same(found, { seq: 3, problem: "reordered" });
});

await t.test("rows whose contents were swapped are found", async (t) => {
  const { found } = await tamper(
    `UPDATE audit_records a SET record = b.record FROM audit_records b
     WHERE a.chain_id = $org AND b.chain_id = $org AND (a.seq, b.seq) IN ((2, 9), (9, 2))`,
  );
  t.same(found, { seq: 2, problem: "reordered" });
});

await t.test("a record of another chain in the place of one is found", async (t) => {
  const other = await tamper("SELECT");
  const { found } = await tamper(
    `UPDATE audit_records a SET record = b.record FROM audit_records b
     WHERE a.chain_id = $org AND b.chain_id = '${other.orgId}' AND a.seq = 5 AND b.seq = 5`,
  );
  t.same(found, { seq: 5, problem: "changed" });
});

await t.test("what follows a removed end does not hide it", async (t) => {
  const { orgId, owner } = await tamper("DELETE FROM audit_records WHERE chain_id = $org AND seq = 10");
  await append(draftsOf(orgId, 1));
  t.same(verifyAuditChain(empty, await listAll(owner)), { seq: 10, problem: "missing" });
});
