import { median } from "../measure.ts";
import { type Bench, type Figure, ratioFigure, type Row } from "../row.ts";
import type { Request } from "../load.ts";
import { secretsPerFolder } from "../seed.ts";

/** A machine's first request with a token new to the service, beside a later one with the same token. */
export const firstRequest: Row = {
  name: "first-request",
  async run({ coffer, seeded, loader, rounds }: Bench): Promise<Figure[]> {
    const first: number[] = [];
    const later: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const requests = seeded.machines.slice(0, 500).map((machine, n): Request => ({
        method: "GET",
        path: `/api/sm/v1/secrets/${seeded.uid(machine.folder * secretsPerFolder + (n % secretsPerFolder))}`,
        headers: {
          authorization: `Bearer ${machine.freshToken()}`,
          "x-forwarded-for": `10.${100 + round}.${n >> 8}.${n & 255}`,
        },
      }));
      const once = { url: coffer.url, connections: 1, seconds: 60, once: true, requests, expect: 200 };
      first.push((await loader.run(once)).p50);
      later.push((await loader.run(once)).p50);
    }
    return [ratioFigure("a machine's first request: p50", "ms", median(first), median(later), { atMost: 1.5 })];
  },
};
