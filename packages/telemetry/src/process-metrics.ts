import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";

const lagResolutionMilliseconds = 10;
const measured = new WeakSet<Registry>();

/**
 * Adds the metrics of this process to a registry, once: CPU, memory, event loop lag and utilization.
 * The label `service` names the first service of the process: for `npm start`, `local`.
 */
export function addProcessMetrics(registry: Registry, service: string): void {
  if (measured.has(registry)) return;
  measured.add(registry);
  const labels = { service };

  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      labelNames: Object.keys(labels),
      registers: [registry],
      collect() {
        this.set(labels, read());
      },
    });
  };

  const lag = monitorEventLoopDelay({ resolution: lagResolutionMilliseconds });
  lag.enable();
  // The measurement includes the interval of the timer.
  const late = (nanoseconds: number): number =>
    lag.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - lagResolutionMilliseconds / 1e3);
  let [p99, max] = [0, 0];
  gauge("nodejs_eventloop_lag_p50_seconds", "Median event loop delay since the last scrape", () => {
    const p50 = late(lag.percentile(50));
    [p99, max] = [late(lag.percentile(99)), late(lag.max)];
    lag.reset();
    return p50;
  });
  gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of event loop delay since the last scrape", () => p99);
  gauge("nodejs_eventloop_lag_max_seconds", "Longest event loop delay since the last scrape", () => max);
  let utilization = performance.eventLoopUtilization();
  gauge("nodejs_eventloop_utilization_ratio", "Share of time the event loop was busy since the last scrape", () => {
    const before = utilization;
    utilization = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(utilization, before).utilization;
  });
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  gauge("nodejs_heap_size_used_bytes", "Heap in use", () => process.memoryUsage().heapUsed);
  gauge("nodejs_heap_size_total_bytes", "Heap reserved", () => process.memoryUsage().heapTotal);
  gauge("nodejs_external_memory_bytes", "Memory of buffers outside the heap", () => process.memoryUsage().external);
  gauge("process_start_time_seconds", "Start of the process, Unix seconds", () => performance.timeOrigin / 1000);

  let counted = 0;
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process, user and system",
    labelNames: Object.keys(labels),
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      const total = (user + system) / 1e6;
      this.inc(labels, total - counted);
      counted = total;
    },
  });
}
