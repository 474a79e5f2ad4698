import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import type { AuditRecord, ChainHead } from "@coffer/events";

export interface ChainProblem {
  seq: number;
  problem: string;
}

/** A gap that the service itself recorded: events that could not be delivered. */
export interface RecordedGap {
  seq: number;
  from: string | null;
  to: string | null;
  count: number | null;
}

export interface ChainReport {
  /** The last record that is whole with all before it. */
  head: ChainHead;
  broken: ChainProblem | undefined;
  gaps: RecordedGap[];
}

/**
 * Recomputes a chain from its pages, oldest record first, and stops at the first break. With `expected`, a head that
 * was seen before, the record of that `seq` must be there and have that hash.
 */
export async function checkChain(
  pages: AsyncIterable<unknown[]>,
  expected: ChainHead | undefined,
): Promise<ChainReport> {
  let head: ChainHead = { seq: 0, hash: firstPreviousHash };
  const gaps: RecordedGap[] = [];
  for await (const page of pages)
    for (const record of page) {
      if (!hasPlace(record)) return { head, gaps, broken: { seq: head.seq + 1, problem: "not a record" } };
      const next = verifyAuditChain(head, [record]);
      if ("problem" in next) return { head, gaps, broken: next };
      head = next;
      if (head.seq === expected?.seq && head.hash !== expected.hash)
        return { head, gaps, broken: { seq: head.seq, problem: "not the record that was here before" } };
      if (record.action === "audit.gap") gaps.push(gapOf(record));
    }
  const cutOff = expected !== undefined && expected.seq > head.seq;
  return { head, gaps, broken: cutOff ? { seq: head.seq + 1, problem: "missing, it was there before" } : undefined };
}

function hasPlace(value: unknown): value is AuditRecord {
  return typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number";
}

function gapOf({ seq, count, changes }: AuditRecord): RecordedGap {
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return { seq, from: text(changes?.["from"]), to: text(changes?.["to"]), count: count ?? null };
}
