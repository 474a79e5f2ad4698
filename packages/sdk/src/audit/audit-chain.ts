import type { AuditHead, AuditPage } from "./audit-pages.ts";

export interface ChainProblem {
  seq: number;
  problem: string;
}

/** A gap that the service recorded: events that could not be delivered. */
export interface RecordedGap {
  seq: number;
  from: string | null;
  to: string | null;
  count: number | null;
}

export interface ChainReport {
  /** The last valid record. */
  head: AuditHead;
  broken: ChainProblem | undefined;
  gaps: RecordedGap[];
}

const emptyHead: AuditHead = { seq: 0, hash: "0".repeat(64) };

/** The members of a record that its place in the chain depends on. */
interface Linked {
  seq: number;
  action?: unknown;
  count?: unknown;
  changes?: unknown;
}

/** Whether a record follows a head: the new head, or what is wrong. */
export type Follow = (head: AuditHead, record: Linked) => AuditHead | ChainProblem;

/**
 * Recomputes a chain from its pages, oldest record first. It must end at the head of the last page.
 * With `expected`, an earlier head, the record with that `seq` must exist and have that hash.
 */
export async function checkChain(
  pages: AsyncIterable<AuditPage>,
  { expected, follow }: { expected: AuditHead | undefined; follow: Follow },
): Promise<ChainReport> {
  const report: ChainReport = { head: emptyHead, broken: undefined, gaps: [] };
  let named = emptyHead;
  for await (const { records, head } of pages) {
    // The last page contains the records since the first page, and the new head.
    named = head ?? emptyHead;
    for (const record of records)
      if (report.broken === undefined) advance(report, record, { expected, follow });
      else if (report.broken.problem === "missing" && isRecord(record) && record.seq === report.broken.seq)
        report.broken.problem = "reordered";
  }
  report.broken ??= wrongEnd(report.head, named, expected);
  return report;
}

/** The problem of the end of a chain that is valid up to `head`. */
function wrongEnd(head: AuditHead, named: AuditHead, expected: AuditHead | undefined): ChainProblem | undefined {
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

/** Appends a record to the report, or stores why it cannot be the next. */
function advance(
  report: ChainReport,
  record: unknown,
  { expected, follow }: { expected: AuditHead | undefined; follow: Follow },
): void {
  if (!isRecord(record)) {
    report.broken = { seq: report.head.seq + 1, problem: "not a record" };
    return;
  }
  const next = follow(report.head, record);
  if ("problem" in next) report.broken = { ...next };
  else if (next.seq === expected?.seq && next.hash !== expected.hash)
    report.broken = { seq: next.seq, problem: "not the record that was there before" };
  else report.head = next;
  if (record.action === "audit.gap") report.gaps.push(gapOf(record));
}

function isRecord(value: unknown): value is Linked {
  return typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number";
}

function gapOf({ seq, count, changes }: Linked): RecordedGap {
  const { from, to } = (changes ?? {}) as { from?: unknown; to?: unknown };
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return { seq, from: text(from), to: text(to), count: typeof count === "number" ? count : null };
}
