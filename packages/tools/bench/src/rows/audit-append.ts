import { median } from "../measure.ts";
import type { BenchOf, Figure, RowOf } from "../row.ts";
import type { SeededAudit } from "../seed-audit.ts";

const records = 5_000;
const atLeast = 5_000;

/** Records that a service sends, until they are durable in the chain of one organization. */
export const auditAppend: RowOf<SeededAudit> = {
  name: "audit-append",
  async run({ seeded, rounds }: BenchOf<SeededAudit>): Promise<Figure[]> {
    await seeded.append(records);
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      await seeded.append(records);
      rates.push((records * 1_000) / (performance.now() - began));
    }
    const value = median(rates);
    return [
      {
        name: "audit: records appended to one chain",
        baseline: null,
        value,
        unit: "records/s",
        ratio: null,
        target: `≥ ${atLeast} records/s`,
        holds: value >= atLeast,
      },
    ];
  },
};
