import type { Metrics } from "@coffer/telemetry";

export interface BusMetrics {
  connected(value: 0 | 1): void;
  /** Starts timing a request; call the result with the outcome: `ok` or an error code. */
  requested(subject: string): (outcome: string) => void;
  replied(subject: string, outcome: string): void;
  /** The server refused to let this service publish or subscribe. */
  refused(operation: BusOperation): void;
  /** A new connection: no subscription is refused on it yet. */
  renewed(): void;
}

/** `reply`: a publish to the inbox of a request. NATS forgets the permission for it when it reloads. */
export type BusOperation = (typeof busOperations)[number];

const busOperations = ["publish", "reply", "subscribe"] as const;

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** The metrics of one service's bus. Subjects are a closed set and never hold user input. */
export function createBusMetrics(metrics: Metrics): BusMetrics {
  const connected = metrics.gauge("coffer_bus_connected", "1 while this service is connected to NATS");
  const seconds = metrics.histogram("coffer_bus_request_seconds", "From request to answer", buckets, [
    "subject",
    "outcome",
  ]);
  const replies = metrics.counter("coffer_bus_replies_total", "Requests answered", ["subject", "outcome"]);
  const refusals = metrics.counter("coffer_bus_refusals_total", "Refusals of NATS for want of a permission", [
    "operation",
  ]);
  const missing = metrics.gauge("coffer_bus_refused_subscriptions", "Subscriptions that NATS refuses this service");
  connected.set(0);
  missing.set(0);
  // Prometheus sees no increase in the first value of a series.
  for (const operation of busOperations) refusals.inc({ operation }, 0);
  return {
    connected: (value) => connected.set(value),
    requested: (subject) => {
      const start = performance.now();
      return (outcome) => seconds.observe((performance.now() - start) / 1000, { subject, outcome });
    },
    replied: (subject, outcome) => replies.inc({ subject, outcome }),
    refused: (operation) => {
      refusals.inc({ operation });
      if (operation === "subscribe") missing.add(1);
    },
    renewed: () => missing.set(0),
  };
}
