import canonicalize from "canonicalize";
import type { AuditRecord } from "./audit-record.ts";

// Without Node: browsers verify chains too.

/** `prev_hash` of the first record of a chain. */
export const firstPreviousHash = "0".repeat(64);

/**
 * The end of a chain: where the next record goes. `seq` 0 and `firstPreviousHash` for an empty one.
 */
export interface ChainHead {
  seq: number;
  hash: string;
}

/** The first break of a chain. `seq` is the number of the bad or missing record. */
export interface ChainBreak {
  seq: number;
  problem: "changed" | "missing" | "reordered";
}

/** Lower-case hex SHA-256 of the UTF-8 bytes of a text. */
export type Sha256 = (text: string) => string;

/**
 * What the hash of a record is over: the record without `hash` in the JSON Canonicalization Scheme (RFC
 * 8785). Includes fields that this version does not know. Throws for unpaired surrogates and NaN,
 * which the scheme cannot express.
 */
export function canonicalAudit(record: Omit<AuditRecord, "hash">): string {
  const canonical = canonicalize({ ...record, hash: undefined }); // a member that is undefined has no canonical form
  if (canonical === undefined) throw new TypeError("an audit record must be an object");
  return canonical;
}

/**
 * Verifies records, oldest first, that follow `head`. Returns the new head, or the first break: a
 * record is `missing` if its number does not come later, `reordered` if it does or came before,
 * `changed` if content or links differ. To detect records cut off at the end, compare the head with
 * a stored one.
 */
export function verifyChainWith(
  sha256: Sha256,
  head: ChainHead,
  records: Iterable<AuditRecord>,
): ChainHead | ChainBreak {
  let { seq, hash } = head;
  const rest = records[Symbol.iterator]();
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    const record = next.value;
    if (record.seq <= seq) return { seq: record.seq, problem: "reordered" };
    if (record.seq > seq + 1) return { seq: seq + 1, problem: comesLater(rest, seq + 1) ? "reordered" : "missing" };
    if (record.prev_hash !== hash || !isAsHashed(sha256, record)) return { seq: record.seq, problem: "changed" };
    ({ seq, hash } = record);
  }
  return { seq, hash };
}

function isAsHashed(sha256: Sha256, record: AuditRecord): boolean {
  try {
    return record.hash === sha256(canonicalAudit(record));
  } catch {
    return false;
  }
}

function comesLater(rest: Iterator<AuditRecord>, seq: number): boolean {
  for (let next = rest.next(); next.done !== true; next = rest.next()) if (next.value.seq === seq) return true;
  return false;
}
