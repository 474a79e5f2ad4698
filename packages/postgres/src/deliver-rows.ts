import { ServiceError } from "@coffer/errors";
import { isAuditAppend } from "@coffer/events";
import type { Deliver, RelayedSubject } from "./deliver.ts";
import { isUnavailable } from "./failure.ts";
import type { OutboxRow } from "./outbox-rows.ts";

export interface DeliveryOptions {
  subjects: ReadonlyMap<string, RelayedSubject>;
  deliver: Deliver;
  mostBytes: number;
  deliverMilliseconds: number;
  /**
   * A number when nothing was taken of late, which is also what a message that kills its consumer looks like: the row
   * at that number, counted round, goes alone first and tells the two apart.
   */
  suspicious: number | undefined;
  /** Whether to begin no further delivery. */
  stopped: () => boolean;
}

/** What became of the rows; those in no list are as before. */
export interface DeliveryReport {
  /** Positions. */
  delivered: number[];
  failed: { row: OutboxRow; problem: string }[];
  /**
   * Rows of several audit records that are refused as they are: when each record has a row of its own, the bad one
   * shows.
   */
  divisible: { row: OutboxRow; problem: string }[];
  /** Nobody was there for some of them. */
  away: boolean;
}

/** Rows whose transaction stays open longer than this might lose their locks before they are deleted. */
const mostMilliseconds = 8_000;

/**
 * Delivers rows in order, as many in one delivery as fit, subjects apart. When a delivery is refused it is halved until
 * the rows at fault are found. Never throws.
 */
export async function deliverRows(rows: readonly OutboxRow[], options: DeliveryOptions): Promise<DeliveryReport> {
  const report: DeliveryReport = { delivered: [], failed: [], divisible: [], away: false };
  const deadline = performance.now() + mostMilliseconds;
  const over = () => options.stopped() || performance.now() > deadline;
  for (const batch of batchesOf(rows, options.mostBytes)) {
    if (over()) report.away = true;
    // The next subject may have somebody who listens, but the next batch of this one has not.
    else if (options.suspicious !== undefined && batch.length > 1) {
      await findSilent(batch, options.suspicious, options, report, over);
    } else await deliverBatch(batch, options, report);
  }
  return report;
}

/** Delivers a batch, or finds the rows in it that are refused. */
async function deliverBatch(batch: readonly OutboxRow[], options: DeliveryOptions, report: DeliveryReport) {
  const error = await attempt(batch, options);
  const [first] = batch;
  if (error === undefined || first === undefined) {
    report.delivered.push(...batch.map(({ position }) => position));
  } else if (saysNothing(error)) {
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
 * Delivers row by row, and counts a row that nobody takes as failed when a later one is taken: then somebody was there,
 * and it is the row that they cannot take.
 */
async function findSilent(
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
    if (error !== undefined && saysNothing(error)) {
      report.away = true;
      if (index === 0) return;
      silent.push(row);
      continue;
    }
    if (error === undefined) report.delivered.push(row.position);
    else refuse(report, row, problemOf(error));
    for (const each of silent) refuse(report, each, "nobody takes this message, though others are taken");
    silent = [];
  }
}

/** Notes a row that is refused for its own sake. */
function refuse(report: DeliveryReport, row: OutboxRow, problem: string): void {
  (isDivisible(row) ? report.divisible : report.failed).push({ row, problem });
}

function isDivisible({ subject, payload }: OutboxRow): boolean {
  if (!isAuditAppend({ subject })) return false;
  const records: unknown = JSON.parse(payload);
  return Array.isArray(records) && records.length > 1;
}

/** One delivery. Returns what went wrong, or undefined. */
async function attempt(batch: readonly OutboxRow[], options: DeliveryOptions): Promise<unknown> {
  const subject = options.subjects.get(batch[0]?.subject ?? "");
  if (subject === undefined) return new TypeError("a row of an unknown subject was taken");
  let timer: NodeJS.Timeout | undefined;
  try {
    const payloads = batch.map(({ payload }): unknown => JSON.parse(payload));
    await Promise.race([
      // A row of audit records is a list of them.
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

/** Whether the consumer, and not a message, may be the reason: it is away, or it fails whatever it is given. */
function saysNothing(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof ServiceError && error.code === "internal_error");
}

/** What may be stored and logged of an error: messages of ServiceErrors quote nothing, others might. */
function problemOf(error: unknown): string {
  if (error instanceof ServiceError) return `${error.code}: ${error.message}`.slice(0, 200);
  return error instanceof Error ? error.name : "an unknown error";
}
