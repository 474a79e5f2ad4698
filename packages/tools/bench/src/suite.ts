import type { LoadedServices, RunningCoffer } from "./coffer.ts";
import type { RowOf } from "./row.ts";

/** A part of the benchmarks: its services and data, at two sizes. */
export interface Suite<Size = never, Content = never> {
  services: LoadedServices;
  /** The full size and a tenth of it, so that the table shows how cost grows. */
  sizes: { full: Size; tenth: Size };
  /** A size, in words. */
  title(size: Size): string;
  /** Fills the started services. */
  seed(coffer: RunningCoffer, size: Size): Promise<Content>;
  /** Closes the connections that it has opened. */
  release?(content: Content): Promise<void>;
  rows: readonly RowOf<Content>[];
  /** The most important figures, each with its sentence. */
  leading: ReadonlyMap<string, (figure: string) => string>;
}
