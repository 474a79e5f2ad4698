import { residentMebibytes } from "../cpu.ts";
import { startExpress } from "../express-baseline.ts";
import { interleaved, median } from "../measure.ts";
import { absoluteFigure, type Bench, type Figure, type Row } from "../row.ts";

interface Start {
  seconds: number;
  mebibytes: number;
}

/**
 * One service from the start of its process to its first response, and its idle memory, beside bare
 * Express.
 */
export const startUp: Row = {
  name: "start-up",
  async run({ coffer, rounds }: Bench): Promise<Figure[]> {
    const started = async (start: () => Promise<{ pid: number; stop: () => unknown }>): Promise<Start> => {
      const from = performance.now();
      const { pid, stop } = await start();
      const seconds = (performance.now() - from) / 1000;
      const mebibytes = residentMebibytes(pid);
      await stop();
      return { seconds, mebibytes };
    };
    const { a, b } = await interleaved(
      rounds,
      () => started(() => coffer.startAnother("auth-sm")),
      () =>
        started(async () => {
          const { pid, close } = await startExpress("bare");
          return { pid, stop: close };
        }),
    );
    const of = (starts: Start[], pick: (start: Start) => number): number => median(starts.map(pick));
    const [seconds, mebibytes] = [(start: Start) => start.seconds, (start: Start) => start.mebibytes];
    return [
      absoluteFigure("auth-sm: start to ready", "s", of(a, seconds), 0.8, of(b, seconds)),
      absoluteFigure("auth-sm: resident when idle", "MiB", of(a, mebibytes), 120, of(b, mebibytes)),
    ];
  },
};
