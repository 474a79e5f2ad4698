import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import type { AuditRecord, ChainHead } from "@coffer/events";
import type { AuditPage } from "@coffer/sdk";

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

const emptyHead: ChainHead = { seq: 0, hash: firstPreviousHash };

/**
 * Recomputes a chain from its pages, oldest record first. It must end where the last page says that it does, and with
 * `expected`, a head that was seen before, the record of that `seq` must be there and have that hash.
 */
export async function checkChain(
  pages: AsyncIterable<AuditPage>,
  expected: ChainHead | undefined,
): Promise<ChainReport> {
  const report: ChainReport = { head: emptyHead, broken: undefined, gaps: [] };
  let named = emptyHead;
  for await (const { records, head } of pages) {
    // What was appended since the first page is in the last one, and its end with it.
    named = head ?? emptyHead;
    for (const record of records)
      if (report.broken === undefined) advance(report, record, expected);
      else if (report.broken.problem === "missing" && hasPlace(record) && record.seq === report.broken.seq)
        report.broken.problem = "reordered";
  }
  report.broken ??= wrongEnd(report.head, named, expected);
  return report;
}

/** What is wrong with the end of a chain that is whole up to `head`. */
function wrongEnd(head: ChainHead, named: ChainHead, expected: ChainHead | undefined): ChainProblem | undefined {
  const seq = head.seq + 1;
  if (expected !== undefined && expected.seq > head.seq) return { seq, problem: "missing: it was there before" };
  if (named.seq > head.seq)
    return {
      seq,
      problem: `missing: the chain is cut short, its end is record ${named.seq} by the service's own word`,
    };
  if (named.seq < head.seq || named.hash !== head.hash)
    return { seq: head.seq, problem: "not the record that the service names as the end" };
  return undefined;
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
