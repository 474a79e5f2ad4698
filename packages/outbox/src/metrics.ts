import { type Database, sql } from "@coffer/postgres";
import type { Metrics } from "@coffer/telemetry";
import { z } from "zod";
import { parkedAfter } from "./relay-lane.ts";

const measured = z.object({ age: z.number().nullable(), parked: z.number() });

/** Measures at each scrape the age of the oldest row that is not parked, and the number of parked rows. */
export function observeOutbox(database: Database, metrics: Metrics, lanes: readonly string[]): void {
  const age = metrics.gauge(
    "coffer_outbox_oldest_age_seconds",
    "Age of the oldest message that is neither delivered nor parked",
  );
  const parked = metrics.gauge(
    "coffer_outbox_parked",
    "Messages that failed so often that they are tried once an hour",
  );
  let underWay: Promise<z.infer<typeof measured>> | undefined;
  const measure = () =>
    (underWay ??= database.pool
      .one(
        sql.type(measured)`
          select
            (select extract(epoch from clock_timestamp() - min(oldest.created_at))::float8
             from unnest(${sql.array([...lanes], "text")}) as lane (name)
             cross join lateral (
               select created_at from outbox
               where outbox.lane = lane.name and attempts < ${parkedAfter} order by position limit 1
             ) as oldest) as age,
            (select count(*) from outbox where attempts >= ${parkedAfter}) as parked
        `,
      )
      .finally(() => (underWay = undefined)));
  age.collect(async () => (await measure()).age ?? 0);
  parked.collect(async () => (await measure()).parked);
}
