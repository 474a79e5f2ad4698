import type { LoadedServices, RunningCoffer } from "./coffer.ts";
import type { RowOf } from "./row.ts";

/** A part of the benchmarks: what is started and filled for it, at two sizes. */
export interface Suite<Size = never, Content = never> {
  services: LoadedServices;
  /** The whole size and a tenth of it, so that the table shows how cost grows. */
  sizes: { full: Size; tenth: Size };
  /** What a size holds, in words. */
  title(size: Size): string;
  /** Fills what was started. */
  seed(coffer: RunningCoffer, size: Size): Promise<Content>;
  rows: readonly RowOf<Content>[];
  /** The figures that say most, each with what it says. */
  leading: ReadonlyMap<string, (figure: string) => string>;
}
