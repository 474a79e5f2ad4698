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
 * Recomputes a chain from its pages, oldest record first. With `expected`, a head that was seen before, the record of
 * that `seq` must be there and have that hash.
 */
export async function checkChain(
  pages: AsyncIterable<unknown[]>,
  expected: ChainHead | undefined,
): Promise<ChainReport> {
  const report: ChainReport = { head: { seq: 0, hash: firstPreviousHash }, broken: undefined, gaps: [] };
  for await (const page of pages)
    for (const record of page)
      if (report.broken === undefined) advance(report, record, expected);
      else if (report.broken.problem === "missing" && hasPlace(record) && record.seq === report.broken.seq)
        report.broken.problem = "reordered";
  if (report.broken === undefined && expected !== undefined && expected.seq > report.head.seq)
    report.broken = { seq: report.head.seq + 1, problem: "missing: it was there before" };
  return report;
}

/** Puts one more record on the chain, or notes why it cannot be the next. */
function advance(report: ChainReport, record: unknown, expected: ChainHead | undefined): void {
  if (!hasPlace(record)) {
    report.broken = { seq: report.head.seq + 1, problem: "not a record" };
    return;
  }
  const next = verifyAuditChain(report.head, [record]);
  if ("problem" in next) report.broken = { ...next };
  else if (next.seq === expected?.seq && next.hash !== expected.hash)
    report.broken = { seq: next.seq, problem: "not the record that was there before" };
  else report.head = next;
  if (record.action === "audit.gap") report.gaps.push(gapOf(record));
}

function hasPlace(value: unknown): value is AuditRecord {
  return typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number";
}

function gapOf({ seq, count, changes }: AuditRecord): RecordedGap {
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return { seq, from: text(changes?.["from"]), to: text(changes?.["to"]), count: count ?? null };
}
