import { createHash } from "node:crypto";
import type { AuditDraft, AuditRecord } from "./audit-record.ts";
import { canonicalAudit, verifyChainWith } from "./verify-chain.ts";
import type { ChainBreak, ChainHead } from "./verify-chain.ts";

/** Lower-case hex SHA-256 of `canonicalAudit`. Throws as that does. */
export function hashOfAudit(record: Omit<AuditRecord, "hash">): string {
  return sha256(canonicalAudit(record));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Appends a draft after `head`. The `seq` and `hash` of the result are the next head. */
export function chainAudit(head: ChainHead, draft: AuditDraft): AuditRecord {
  const placed = { ...draft, seq: head.seq + 1, prev_hash: head.hash };
  return { ...placed, hash: hashOfAudit(placed) };
}

/** `verifyChainWith` the hash of Node. */
export function verifyAuditChain(head: ChainHead, records: Iterable<AuditRecord>): ChainHead | ChainBreak {
  return verifyChainWith(sha256, head, records);
}
