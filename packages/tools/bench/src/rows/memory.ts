import { residentMebibytes } from "../cpu.ts";
import { type Bench, type Figure, ratioFigure, type Row } from "../row.ts";
import { addresses, secretReads } from "./secret-read.ts";

const part = 100_000;
const parts = 10;

/**
 * Resident memory of auth-sm after a million secret reads, beside that after the first hundred
 * thousand. Only at the larger size: it takes minutes.
 */
export const memory: Row = {
  name: "memory",
  async run({ coffer, seeded, loader }: Bench): Promise<Figure[]> {
    if (seeded.size.secrets < part) return [];
    const requests = secretReads(seeded);
    const all = Array.from({ length: part / requests.length }, () => requests).flat();
    const [service = 0] = coffer.pids.service;
    const resident: number[] = [];
    for (let done = 0; done < parts; done += 1) {
      const load = { url: coffer.url, connections: 32, seconds: 600, once: true, addresses, expect: 200 };
      const { unexpected } = await loader.run({ ...load, requests: all });
      if (unexpected > 0) throw new Error(`${unexpected} answers were not 200: nothing was measured`);
      resident.push(residentMebibytes(service));
    }
    const [first = Number.NaN, last = Number.NaN] = [resident[0], resident.at(-1)];
    return [ratioFigure("auth-sm: resident after 1,000,000 reads", "MiB", last, first, { atMost: 1.15 })];
  },
};
