import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import { createLimiter, type Limiter, type LimiterOptions } from "../src/index.ts";

export const limits = { strict: 5, standard: 60, user: 300 } as const;
export const windowSeconds = 60;
export const window = windowSeconds * 1_000_000;

interface Scope {
  teardown(work: () => unknown): unknown;
}

export interface TestLimiter extends Limiter {
  /** The value of a metric for any `service`; 0 without one. */
  metric(name: string, labels?: string): Promise<number>;
}

/**
 * A limiter like that of a replica. Redis has unlimited time, so that a busy machine changes no
 * decision; a test of timeouts sets one.
 */
export function startLimiter(t: Scope, options: Partial<LimiterOptions> & { redis: string | null }): TestLimiter {
  const { metrics } = createTelemetry({ service: "test" });
  const limiter = createLimiter({
    limits,
    windowSeconds,
    replicas: 1,
    metrics,
    deadlineMilliseconds: 10_000,
    ...options,
  });
  t.teardown(() => limiter.close());
  return Object.create(limiter, {
    metric: {
      value: async (name: string, labels = "") => {
        const text = await metrics.registry.metrics();
        const line = text.split("\n").find((line) => line.startsWith(`${name}{`) && line.includes(labels));
        return Number(line?.split(" ").at(-1) ?? 0);
      },
    },
  }) as TestLimiter; // the limiter with one more function
}

/** Waits until a limiter counts in Redis. */
export async function connected(limiter: Limiter): Promise<void> {
  await until("the limiter counts in Redis", () => !limiter.degraded);
}
