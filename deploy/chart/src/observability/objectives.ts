/** One service level objective: the share of good events of a service over 30 days. */
export interface Objective {
  /** Part of the names of its alerts and recording rules. */
  name: "Availability" | "Latency" | "PushFreshness";
  /** For people: all events. */
  events: string;
  /** For people: the fault of the bad ones. */
  fault: string;
  /** The share of events that may be bad. */
  budget: number;
  /** PromQL for the rate of all events by service; `$window` stands for the window. */
  all: string;
  /** PromQL for the rate of bad events by service. */
  bad: string;
}

const requests = "http_server_request_duration_seconds";
const pushes = "coffer_sync_push_latency_seconds";

/** Seconds within which a read should be answered; a bound of the histogram. */
const readSeconds = "0.25";
/** Seconds within which a push should be handed to the connections; a bound of the histogram. */
const pushSeconds = "1";
/** The OpenMetrics form of the bound has a decimal point. */
const pushBound = String.raw`1(\\.0)?`;

export const objectives: readonly Objective[] = [
  {
    name: "Availability",
    events: "requests",
    fault: "ended with 500 or above",
    budget: 0.001,
    all: `sum by (service) (rate(${requests}_count[$window]))`,
    bad: `sum by (service) (rate(${requests}_count{http_response_status_code=~"5.."}[$window]))`,
  },
  {
    name: "Latency",
    events: "reads (GET)",
    fault: `took longer than ${readSeconds} s`,
    budget: 0.01,
    all: `sum by (service) (rate(${requests}_count{http_request_method="GET"}[$window]))`,
    bad:
      `(sum by (service) (rate(${requests}_count{http_request_method="GET"}[$window]))` +
      ` - sum by (service) (rate(${requests}_bucket{http_request_method="GET",le="${readSeconds}"}[$window])))`,
  },
  {
    name: "PushFreshness",
    events: "pushes",
    fault: `reached the connections later than ${pushSeconds} s after the commit`,
    budget: 0.01,
    all: `sum by (service) (rate(${pushes}_count[$window]))`,
    bad:
      `(sum by (service) (rate(${pushes}_count[$window]))` +
      ` - sum by (service) (rate(${pushes}_bucket{le=~"${pushBound}"}[$window])))`,
  },
];

/**
 * Alerts when the error budget of 30 days is spent too fast: the multi-window, multi-burn-rate alerts of
 * Google's SRE workbook ("Alerting on SLOs"). The short window ends the alert soon after the trouble.
 */
export const burnRates = [
  { factor: 14.4, long: "1h", short: "5m", severity: "page" },
  { factor: 6, long: "6h", short: "30m", severity: "page" },
  { factor: 3, long: "1d", short: "2h", severity: "ticket" },
  { factor: 1, long: "3d", short: "6h", severity: "ticket" },
] as const;

export const windows = [...new Set(burnRates.flatMap(({ long, short }) => [long, short]))];

/** The name of the recording rule with the share of bad events over a window. */
export function recordOf({ name }: Objective, window: string): string {
  const snake = name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  return `coffer:${snake}_errors:ratio_rate${window}`;
}
