import type { Queryable } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import { findPartitionsEnd } from "../store/partitions.ts";

/** Shows whether partitions are made ahead: without one, records go to the default partition. */
export function observePartitions({ metrics }: Telemetry, db: Queryable): void {
  const end = metrics.gauge(
    "coffer_audit_partitions_end_timestamp_seconds",
    "The end of the last month that has a partition of the audit",
  );
  end.set(0);
  end.collect(async () => Date.parse(await findPartitionsEnd(db)) / 1_000);
}
