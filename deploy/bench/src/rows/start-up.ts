import { residentMebibytes } from "../cpu.ts";
import { median } from "../measure.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { absoluteFigure } from "../row.ts";

/** One service from the start of its process to its first answer, and what it holds in memory when idle. */
export const startUp: Row = {
  name: "start-up",
  async run({ coffer, rounds }: Bench): Promise<Figure[]> {
    const seconds: number[] = [];
    const resident: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      const service = await coffer.startAnother("auth-sm");
      seconds.push((performance.now() - started) / 1000);
      resident.push(residentMebibytes(service.pid));
      await service.stop();
    }
    return [
      absoluteFigure("auth-sm: start to ready", "s", median(seconds), 0.8),
      absoluteFigure("auth-sm: resident when idle", "MiB", median(resident), 120),
    ];
  },
};
