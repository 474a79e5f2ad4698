import type { ServiceBase } from "@coffer/service";
import type { Counter } from "@coffer/telemetry";
import type { Config } from "./config.ts";
import type { PriceTable } from "./plans/price-table.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Pick<ServiceBase<Config>, "config" | "database" | "telemetry" | "now"> {
  /** A new UUIDv7. */
  newId(): string;
  /** Which plan a price gives. */
  prices: PriceTable;
  /** `coffer_billing_events_total`. */
  eventCount: Counter<"type" | "outcome">;
}
