import type { RunningCoffer } from "./coffer.ts";
import type { Loader } from "./load.ts";
import type { Seeded } from "./seed.ts";
/** One figure beside its baseline, in the same run. */
export interface Figure {
  name: string;
  baseline: number | null;
  value: number;
  unit: string;
  /** value / baseline, or null without one. */
  ratio: number | null;
  /** In words, for docs/benchmarks.md. */
  target: string;
  holds: boolean | null;
}

/** The servers and the loading process for a row. */
export interface BenchOf<Content> {
  coffer: RunningCoffer;
  /** The seeded data. */
  seeded: Content;
  loader: Loader;
  /** Seconds of each burst of load. */
  seconds: number;
  /** How often value and baseline alternate. */
  rounds: number;
}

/** One benchmark: its name on the command line, and its figures. */
export interface RowOf<Content> {
  name: string;
  run(bench: BenchOf<Content>): Promise<Figure[]>;
}

/** A row of the Secrets Manager. */
export type Bench = BenchOf<Seeded>;
export type Row = RowOf<Seeded>;

/** A figure whose target is a ratio to the baseline. */
export function ratioFigure(
  name: string,
  unit: string,
  value: number,
  baseline: number,
  bound: { atMost: number } | { atLeast: number },
): Figure {
  const ratio = value / baseline;
  const holds = "atMost" in bound ? ratio <= bound.atMost : ratio >= bound.atLeast;
  const target = "atMost" in bound ? `≤ ${bound.atMost} ×` : `≥ ${bound.atLeast} ×`;
  return { name, baseline, value, unit, ratio, target, holds };
}

/** A figure whose target is absolute; its baseline is for comparison. */
export function absoluteFigure(
  name: string,
  unit: string,
  value: number,
  atMost: number,
  baseline: number | null = null,
): Figure {
  return {
    name,
    baseline,
    value,
    unit,
    ratio: baseline === null ? null : value / baseline,
    target: `≤ ${atMost} ${unit}`,
    holds: value <= atMost,
  };
}
