import { interleaved, measure, type Measured, median } from "../measure.ts";
import { type Bench, type Figure, ratioFigure, type Row } from "../row.ts";
import { addresses, secretReads } from "./secret-read.ts";

/**
 * Secret reads by two replicas, each under as many connections as a single one. All processes share one
 * machine, so the cost of a read shows whether a second replica adds its whole capacity: if it does not
 * grow, more capacity only needs more cores.
 */
export const replicas: Row = {
  name: "replicas",
  async run({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
    const load = { seconds, addresses, expect: 200, requests: secretReads(seeded) };
    const second = await coffer.startAnother("auth-sm");
    try {
      const [one, two] = [coffer.pids.service, [...coffer.pids.service, second.pid]];
      const { a, b } = await interleaved(
        rounds,
        () =>
          measure(
            loader,
            { ...load, connections: 64, url: [coffer.url, second.url] },
            { service: two },
            coffer.drained,
          ),
        () => measure(loader, { ...load, connections: 32, url: coffer.url }, { service: one }, coffer.drained),
      );
      const cpu = (runs: Measured[]): number =>
        median(runs.map(({ cpuMicroseconds }) => cpuMicroseconds["service"] ?? 0));
      return [ratioFigure("secret read by two replicas: CPU of both", "µs", cpu(a), cpu(b), { atMost: 1.1 })];
    } finally {
      await second.stop();
    }
  },
};
