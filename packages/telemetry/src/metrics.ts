import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from "prom-client";
import { activeSpan } from "./active-trace.ts";
import type { Metrics } from "./metric-types.ts";
import { readWithin } from "./read-within.ts";

interface Found {
  readonly shape: string;
  readonly metric: PromCounter | PromGauge | PromHistogram;
  readonly readers: (() => Promise<void>)[];
}

const registered = new WeakMap<Registry, Map<string, Found>>();

/**
 * The metrics of one service in a registry that several services of one process may share. Each metric
 * has the label `service`. Throws `TypeError` if a name exists with another type, other labels or
 * buckets.
 */
export function createMetrics(service: string, registry: Registry): Metrics {
  const known = registered.get(registry) ?? new Map<string, Found>();
  registered.set(registry, known);
  // prom-client stores exemplars only in a registry of this type; the Accept header decides the format.
  if (known.size === 0) registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);

  function find<Metric extends Found["metric"]>(
    name: string,
    shape: string,
    make: (collect: () => Promise<void>) => Metric,
  ): { metric: Metric; readers: Found["readers"] } {
    const found = known.get(name);
    if (found !== undefined) {
      if (found.shape !== shape) throw new TypeError(`the metric ${name} exists already as ${found.shape}`);
      return { metric: found.metric as Metric, readers: found.readers }; // the shape names the class
    }
    const readers: Found["readers"] = [];
    const metric = make(() => Promise.all(readers.map((read) => read())).then(() => undefined));
    known.set(name, { shape, metric, readers });
    return { metric, readers };
  }

  const withService = (labels: object | undefined): Record<string, string | number> => ({ service, ...labels });
  const names = (labels: readonly string[]): string[] => ["service", ...labels];

  return {
    registry,
    counter: (name, help, labels = []) => {
      const make = () => new PromCounter({ name, help, labelNames: names(labels), registers: [registry] });
      const { metric } = find(name, `counter(${labels.join()})`, make);
      // Prometheus sees no increase in the first value of a series.
      if (labels.length === 0) metric.inc(withService(undefined), 0);
      return { inc: (given?: object, value = 1) => metric.inc(withService(given), value) };
    },
    gauge: (name, help, labels = []) => {
      const { metric, readers } = find(
        name,
        `gauge(${labels.join()})`,
        (collect) => new PromGauge({ name, help, labelNames: names(labels), registers: [registry], collect }),
      );
      return {
        set: (value, given?: object) => metric.set(withService(given), value),
        add: (value, given?: object) => metric.inc(withService(given), value),
        collect: (read) => {
          readers.push(async () => {
            const value = await readWithin(read, 1000);
            if (typeof value === "number") metric.set(withService(undefined), value);
          });
        },
      };
    },
    histogram: (name, help, buckets, labels = []) => {
      const { metric } = find(
        name,
        `histogram(${labels.join()}; ${buckets.join()})`,
        () =>
          new PromHistogram({
            name,
            help,
            labelNames: names(labels),
            buckets: [...buckets],
            registers: [registry],
            enableExemplars: true,
          }),
      );
      return {
        observe: (value, given?: object) => {
          const trace = activeSpan()?.spanContext();
          const observed = { labels: withService(given), value };
          metric.observe(
            trace === undefined
              ? observed
              : // prom-client types an exemplar's labels as the metric's own; at run time they are any.
                {
                  ...observed,
                  exemplarLabels: { trace_id: trace.traceId, span_id: trace.spanId },
                },
          );
        },
      };
    },
  };
}
