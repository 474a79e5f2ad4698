import type { Queryable } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import { type DrillResult, findDrill } from "../store/restore-drills.ts";

/** Replicas are scraped several times a minute, and a drill runs once a day at most. */
const cachedMilliseconds = 5_000;

/**
 * The metrics of restore drills: of the newest successful one, and whether the newest failed. 0
 * before the first.
 */
export function observeDrills({ metrics }: Telemetry, db: Queryable): void {
  const succeeded = cached(() => findDrill(db, { succeeded: true }));
  const newest = cached(() => findDrill(db, { succeeded: false }));
  const gauge = (name: string, help: string, value: (drill: DrillResult) => number, read = succeeded): void => {
    const made = metrics.gauge(name, help);
    made.set(0);
    made.collect(async () => {
      const drill = await read();
      return drill === null ? 0 : value(drill);
    });
  };
  const seconds = (time: string): number => Date.parse(time) / 1000;
  gauge(
    "coffer_restore_drill_success_timestamp_seconds",
    "When the newest restore drill that succeeded ended",
    ({ ended_at }) => seconds(ended_at),
  );
  gauge(
    "coffer_restore_drill_backup_timestamp_seconds",
    "The moment of the backup that the newest successful drill restored",
    ({ backup_at }) => seconds(backup_at),
  );
  gauge(
    "coffer_restore_drill_duration_seconds",
    "How long the newest successful restore drill took",
    (drill) => drill.seconds,
  );
  gauge(
    "coffer_restore_drill_chains",
    "Audit chains that the newest successful drill verified",
    ({ chains }) => chains,
  );
  gauge("coffer_restore_drill_rows", "Rows that the newest successful drill counted", ({ rows }) => rows);
  gauge(
    "coffer_restore_drill_failed",
    "1 while the newest restore drill has found something wrong",
    ({ problem }) => (problem === null ? 0 : 1),
    newest,
  );
}

/** One statement for all gauges of a scrape. */
function cached<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: { at: number; value: Promise<Value> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at >= cachedMilliseconds) {
      const value = read();
      last = { at: now, value };
      value.catch(() => (last = undefined));
    }
    return last.value;
  };
}
