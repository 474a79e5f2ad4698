import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, type PipelinedConnection } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import type { Deliver, RelayedSubject } from "./deliver.ts";
import { deliverRows } from "./deliver-rows.ts";
import { type FailedRow, outboxRows } from "./rows.ts";
import { createScanStart } from "./scan-start.ts";

/** After so many failures a row is parked: retried once an hour. */
export const parkedAfter = 5;

/** Seconds until a retry, by the number of failures before. */
const waits = [1, 5, 30, 120] as const;
const parkedSeconds = 3_600;

/** Consecutive cycles without a consumer until a message is suspected. */
const suspiciousAfter = 3;
const mostRows = 1_000;

export interface LaneOptions {
  name: string;
  subjects: ReadonlyMap<string, RelayedSubject>;
  /** Owned by this lane. */
  connection: PipelinedConnection;
  deliver: Deliver;
  telemetry: Telemetry;
  mostBytes: number;
  deliverMilliseconds: number;
}

/** A delivery loop for the messages of one consumer. */
export interface Lane {
  readonly name: string;
  /** Ends the pause. While the consumer is away, only `nudge` does. */
  wake(reason: "commit" | "nudge"): void;
  close(): Promise<void>;
}

type Outcome = "more" | "done" | "away";

export function createLane(options: LaneOptions): Lane {
  const { name, subjects, connection, telemetry, mostBytes } = options;
  const rows = outboxRows(connection, name);
  const delivered = telemetry.metrics.counter(
    "coffer_outbox_delivered_total",
    "Outbox rows that their consumer acknowledged",
    ["lane"],
  );
  const scanStart = createScanStart();
  let limit = 100;
  let failures = 0;
  let closed = false;
  let woken: "commit" | "nudge" | undefined;
  let lastWarning: string | undefined;
  let pause: AbortController | undefined;

  const cycle = async (): Promise<Outcome> => {
    const taken = await rows
      .take([...subjects.keys()], { limit, from: scanStart.next() })
      .catch(async (error: unknown) => {
        await rows.release().catch(() => undefined);
        throw error;
      });
    if (taken.length === 0) {
      await rows.release();
      return "done";
    }
    const suspicious = failures >= suspiciousAfter ? failures : undefined;
    const report = await deliverRows(taken, { ...options, suspicious, stopped: () => closed });
    const failed = report.failed.map(({ row, problem }): FailedRow => {
      const waitSeconds = waits[row.attempts] ?? parkedSeconds;
      const facts = { lane: name, position: row.position, subject: row.subject, problem };
      if (row.attempts + 1 >= parkedAfter) telemetry.log.error(facts, "a message is parked");
      else telemetry.log.warn(facts, "a message was refused");
      return { position: row.position, problem, waitSeconds };
    });
    for (const { row, problem } of report.divisible) {
      const facts = { lane: name, position: row.position, subject: row.subject, problem };
      telemetry.log.warn(facts, "a message of several records was refused: each record is retried alone");
    }
    await rows.finish({
      delivered: report.delivered,
      failed,
      divide: report.divisible.map(({ row }) => row.position),
    });
    scanStart.passed(report.delivered);
    if (report.delivered.length > 0) delivered.inc({ lane: name }, report.delivered.length);

    const full = taken.length === limit;
    const bytes = taken.reduce((sum, { payload }) => sum + payload.length, 0);
    if (bytes > 4 * mostBytes) limit = Math.max(1, Math.ceil(limit / 2));
    else if (full) limit = Math.min(mostRows, limit * 2);
    const isDivided = report.divisible.length > 0;
    if (report.away && report.delivered.length === 0 && !isDivided) return "away";
    return full || report.away || isDivided ? "more" : "done";
  };

  /** Pauses until the time is over or `wake` is called. */
  const rest = async (milliseconds: number, away: boolean): Promise<void> => {
    if (woken === "nudge" || (woken === "commit" && !away)) return;
    pause = new AbortController();
    await sleep(milliseconds, undefined, { signal: pause.signal }).catch(() => undefined);
    pause = undefined;
  };

  /** Logs a repeated problem once. */
  const warn = (what: string, err?: unknown): void => {
    if (what !== lastWarning) telemetry.log.warn({ lane: name, err }, what);
    lastWarning = what;
  };

  const run = async (): Promise<void> => {
    while (!closed) {
      woken = undefined;
      const outcome = await cycle().then(
        (ended) => {
          if (ended === "away") warn("messages wait: the consumer does not answer");
          return ended;
        },
        (error: unknown): Outcome => {
          if (isUnavailable(error)) warn("messages wait: Postgres does not answer", error);
          else telemetry.log.error({ err: error, lane: name }, "the outbox cannot be read");
          return "away";
        },
      );
      if (outcome === "away") {
        failures += 1;
        await rest(Math.min(2_000, 100 * 2 ** failures) * (0.75 + Math.random() / 2), true);
      } else {
        if (failures > 0) telemetry.log.info({ lane: name }, "messages are delivered again");
        failures = 0;
        lastWarning = undefined;
        if (outcome === "done") await rest(100 + Math.random() * 100, false);
      }
    }
    await connection.close();
  };
  const ended = run();

  return {
    name,
    wake(reason) {
      if (woken !== "nudge") woken = reason;
      if (reason === "nudge" || failures === 0) pause?.abort();
    },
    async close() {
      closed = true;
      pause?.abort();
      woken = "nudge";
      await ended;
    },
  };
}
