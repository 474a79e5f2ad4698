import { ServiceError } from "@coffer/errors";
import { isAuditAppend } from "@coffer/events";
import { isUnavailable } from "@coffer/postgres";
import type { Deliver, RelayedSubject } from "./deliver.ts";
import type { OutboxRow } from "./rows.ts";

export interface DeliveryOptions {
  subjects: ReadonlyMap<string, RelayedSubject>;
  deliver: Deliver;
  mostBytes: number;
  deliverMilliseconds: number;
  /**
   * The number of failed cycles, if there were several: the consumer is away, or a message crashes
   * it. To distinguish the two, the row at this index (modulo) is delivered first and alone.
   */
  suspicious: number | undefined;
  /** Whether to stop before the next delivery. */
  stopped: () => boolean;
}

/** The result for each row; rows in no list are unchanged. */
export interface DeliveryReport {
  /** Positions. */
  delivered: number[];
  failed: { row: OutboxRow; problem: string }[];
  /** Refused rows of several audit records: divided, to find the bad record. */
  divisible: { row: OutboxRow; problem: string }[];
  /** The consumer of some rows did not answer. */
  away: boolean;
}

/** Bounds the transaction, which holds the locks of the rows. */
const mostMilliseconds = 8_000;

/**
 * Delivers rows in order, in batches of one subject. Halves a refused batch until the bad rows are
 * found. Never throws.
 */
export async function deliverRows(rows: readonly OutboxRow[], options: DeliveryOptions): Promise<DeliveryReport> {
  const report: DeliveryReport = { delivered: [], failed: [], divisible: [], away: false };
  const deadline = performance.now() + mostMilliseconds;
  const over = () => options.stopped() || performance.now() > deadline;
  for (const batch of batchesOf(rows, options.mostBytes)) {
    if (over()) report.away = true;
    else if (options.suspicious !== undefined && batch.length > 1) {
      await findUnanswered(batch, options.suspicious, options, report, over);
    } else await deliverBatch(batch, options, report);
  }
  return report;
}

/** Delivers a batch, or finds its refused rows. */
async function deliverBatch(batch: readonly OutboxRow[], options: DeliveryOptions, report: DeliveryReport) {
  const error = await attempt(batch, options);
  const [first] = batch;
  if (error === undefined || first === undefined) {
    report.delivered.push(...batch.map(({ position }) => position));
  } else if (isInconclusive(error)) {
    report.away = true;
  } else if (batch.length === 1) {
    refuse(report, first, problemOf(error));
  } else {
    const half = batch.length >> 1;
    await deliverBatch(batch.slice(0, half), options, report);
    if (!report.away) await deliverBatch(batch.slice(half), options, report);
  }
}

/**
 * Delivers row by row. An unanswered row counts as failed once a later row is answered: the
 * consumer was there, and the row is at fault.
 */
async function findUnanswered(
  batch: readonly OutboxRow[],
  number: number,
  options: DeliveryOptions,
  report: DeliveryReport,
  over: () => boolean,
): Promise<void> {
  const start = number % batch.length;
  let silent: OutboxRow[] = [];
  for (const [index, row] of [...batch.slice(start), ...batch.slice(0, start)].entries()) {
    if (over()) break;
    const error = await attempt([row], options);
    if (error !== undefined && isInconclusive(error)) {
      report.away = true;
      if (index === 0) return;
      silent.push(row);
      continue;
    }
    if (error === undefined) report.delivered.push(row.position);
    else refuse(report, row, problemOf(error));
    for (const each of silent) refuse(report, each, "the consumer does not answer this message, but answers others");
    silent = [];
  }
}

function refuse(report: DeliveryReport, row: OutboxRow, problem: string): void {
  (isDivisible(row) ? report.divisible : report.failed).push({ row, problem });
}

function isDivisible({ subject, payload }: OutboxRow): boolean {
  if (!isAuditAppend({ subject })) return false;
  const records: unknown = JSON.parse(payload);
  return Array.isArray(records) && records.length > 1;
}

/** One delivery. Returns the error, or undefined. */
async function attempt(batch: readonly OutboxRow[], options: DeliveryOptions): Promise<unknown> {
  const subject = options.subjects.get(batch[0]?.subject ?? "");
  if (subject === undefined) return new TypeError("a row of an unknown subject was taken");
  let timer: NodeJS.Timeout | undefined;
  try {
    const payloads = batch.map(({ payload }): unknown => JSON.parse(payload));
    await Promise.race([
      // Each row of audit records is a list.
      options.deliver(subject, isAuditAppend(subject) ? payloads.flat() : payloads),
      new Promise((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new ServiceError("unavailable", "the delivery took too long"));
        }, options.deliverMilliseconds);
      }),
    ]);
    return undefined;
  } catch (error) {
    return error ?? new Error("the delivery failed without a reason");
  } finally {
    clearTimeout(timer);
  }
}

/** Consecutive rows of one subject, up to `mostBytes` of JSON; a row that is larger goes alone. */
function batchesOf(rows: readonly OutboxRow[], mostBytes: number): OutboxRow[][] {
  const batches: OutboxRow[][] = [];
  const open = new Map<string, { batch: OutboxRow[]; bytes: number }>();
  for (const row of rows) {
    const bytes = Buffer.byteLength(row.payload) + 1;
    const current = open.get(row.subject);
    if (current !== undefined && current.bytes + bytes <= mostBytes) {
      current.batch.push(row);
      current.bytes += bytes;
    } else {
      const batch = [row];
      batches.push(batch);
      open.set(row.subject, { batch, bytes });
    }
  }
  return batches;
}

/** Whether the consumer, not a message, may be at fault. */
function isInconclusive(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof ServiceError && error.code === "internal_error");
}

/** The problem to store and log: messages of ServiceErrors quote no values, others may. */
function problemOf(error: unknown): string {
  if (error instanceof ServiceError) return `${error.code}: ${error.message}`.slice(0, 200);
  return error instanceof Error ? error.name : "an unknown error";
}
