import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { AuditDraft, AuditRecord } from "./audit-record.ts";

/** `prev_hash` of the first record of a chain. */
export const firstPreviousHash = "0".repeat(64);

/** The end of a chain: where the next record goes. `seq` 0 and `firstPreviousHash` for an empty one. */
export interface ChainHead {
  seq: number;
  hash: string;
}

/** Where a chain stops being whole, and why. `seq` is that of the record at which it was noticed. */
export interface ChainBreak {
  seq: number;
  problem: "changed" | "missing" | "reordered";
}

/** Lower-case hex SHA-256 over the record without `hash`, in the JSON Canonicalization Scheme (RFC 8785). */
export function hashOfAudit(record: Omit<AuditRecord, "hash">): string {
  const { hash: _hash, ...hashed } = record as AuditRecord;
  const canonical = canonicalize(hashed);
  if (canonical === undefined) throw new TypeError("an audit record must be an object");
  return createHash("sha256").update(canonical).digest("hex");
}

/** Gives a draft the place after `head`. Returns the finished record; its `seq` and `hash` are the next head. */
export function chainAudit(head: ChainHead, draft: AuditDraft): AuditRecord {
  const placed = { ...draft, seq: head.seq + 1, prev_hash: head.hash };
  return { ...placed, hash: hashOfAudit(placed) };
}

/**
 * Checks records, oldest first, that follow `head`.
 * Returns the new head when they are whole, or the first break. A record that was removed shows as `missing`, one that
 * was put elsewhere as `reordered`, one whose content or links were altered as `changed`.
 */
export function verifyAuditChain(head: ChainHead, records: Iterable<AuditRecord>): ChainHead | ChainBreak {
  let { seq, hash } = head;
  for (const record of records) {
    if (record.seq > seq + 1) return { seq: record.seq, problem: "missing" };
    if (record.seq <= seq) return { seq: record.seq, problem: "reordered" };
    if (record.prev_hash !== hash || record.hash !== hashOfAudit(record))
      return { seq: record.seq, problem: "changed" };
    ({ seq, hash } = record);
  }
  return { seq, hash };
}
