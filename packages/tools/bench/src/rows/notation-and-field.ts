import type { Request } from "../load.ts";
import { interleaved, measure, median } from "../measure.ts";
import { type Bench, type Figure, ratioFigure, type Row } from "../row.ts";
import { secretsPerFolder, type Seeded } from "../seed.ts";
import { createHash } from "node:crypto";
import { addresses, secretReads } from "./secret-read.ts";

/** Notation and single fields, beside reading the whole secret. */
export const notationAndField: Row = {
  name: "notation-and-field",
  async run(bench: Bench): Promise<Figure[]> {
    const { seeded } = bench;
    const whole = secretReads(seeded);
    return [
      await rate(
        bench,
        "field read: rate",
        secretReads(seeded, (uid) => `/api/sm/v1/secrets/${uid}/fields/password`),
        whole,
      ),
      await rate(bench, "notation: rate", notations(seeded), whole),
    ];
  },
};

async function rate(
  { coffer, loader, seconds, rounds }: Bench,
  name: string,
  requests: Request[],
  whole: Request[],
): Promise<Figure> {
  const load = { url: coffer.url, connections: 32, seconds, addresses, expect: 200 };
  const { a, b } = await interleaved(
    rounds,
    () => measure(loader, { ...load, requests }, {}),
    () => measure(loader, { ...load, requests: whole }, {}),
  );
  const perSecond = (results: typeof a): number => median(results.map((result) => result.requests / result.seconds));
  return ratioFigure(name, "1/s", perSecond(a), perSecond(b), { atLeast: 0.8 });
}

function notations(seeded: Seeded): Request[] {
  return secretReads(seeded).map(({ path, headers }) => {
    const n = Number(path.slice(path.lastIndexOf("bench") + "bench".length));
    const title = encodeURIComponent(`service ${n} ${createHash("md5").update(String(n)).digest("hex")}`);
    const notation = `coffer://folder-${Math.floor(n / secretsPerFolder)}/${title}/field/password`;
    return {
      method: "POST",
      path: "/api/sm/v1/notation",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ notation }),
    };
  });
}
