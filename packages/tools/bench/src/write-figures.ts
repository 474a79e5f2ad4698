import type { QueryConfig } from "pg";
import { bareWrites } from "./bare-writes.ts";
import type { Request } from "./load.ts";
import { interleaved, measure, type Measured, median } from "./measure.ts";
import { absoluteFigure, type BenchOf, type Figure, ratioFigure } from "./row.ts";
import { addresses } from "./rows/secret-read.ts";

const connections = 8;

/** A kind of write, by Coffer and bare. */
export interface Writes {
  name: string;
  requests: Request[];
  expect: number;
  schema: string;
  statement: (n: number) => QueryConfig;
}

/** A kind of write at 8 connections, beside bare transactions of `pg` that write the same rows. */
export async function writeFigures(
  { coffer, loader, seconds, rounds }: BenchOf<unknown>,
  { name, requests, expect, schema, statement }: Writes,
): Promise<Figure[]> {
  const load = { url: coffer.url, connections, seconds, addresses, expect, requests };
  const bare = { postgresUrl: coffer.postgresUrl, schema, connections, seconds };
  const { a, b } = await interleaved(
    rounds,
    () => measure(loader, load, { all: coffer.pids.all }, coffer.drained),
    () => bareWrites(bare, statement),
  );
  const of = (pick: (result: Measured) => number): number => median(a.map(pick));
  const rate = of((result) => result.requests / result.seconds);
  const milliseconds = of(({ cpuMicroseconds }) => (cpuMicroseconds["all"] ?? 0) / 1000);
  return [
    ratioFigure(`${name}: rate`, "1/s", rate, median(b.map((run) => run.rate)), { atLeast: 0.5 }),
    absoluteFigure(`${name}: CPU of all processes`, "ms", milliseconds, 0.7),
    absoluteFigure(
      `${name}: p99`,
      "ms",
      of(({ p99 }) => p99),
      15,
      median(b.map((run) => run.p99)),
    ),
  ];
}
