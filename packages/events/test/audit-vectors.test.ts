import { readFile } from "node:fs/promises";
import t from "tap";
import { verifyAuditChain } from "../src/audit-chain.ts";
import type { AuditRecord } from "../src/audit-record.ts";

interface Vector {
  name: string;
  error: string | null;
  record: AuditRecord;
  canonical: string;
  hash: string;
}

const file = new URL("../../../docs/spec/vectors/audit.json", import.meta.url);
const { vectors } = JSON.parse(await readFile(file, "utf8")) as { vectors: Vector[] };

void t.test("the published chain is whole, record by record", (t) => {
  let head = { seq: 0, hash: "0".repeat(64) };
  for (const { name, record, hash } of vectors.filter(({ error }) => error === null)) {
    const next = verifyAuditChain(head, [record]);
    t.strictSame(next, { seq: record.seq, hash }, name);
    head = { seq: record.seq, hash };
  }
  t.equal(head.seq, 3);
  t.end();
});

void t.test("a published record that was changed breaks the chain", (t) => {
  for (const { name, record, error } of vectors.filter((vector) => vector.error !== null)) {
    t.match(verifyAuditChain({ seq: record.seq - 1, hash: record.prev_hash }, [record]), { problem: error }, name);
  }
  t.end();
});
