import { hasStalePlan } from "./failure.ts";
import type { Line, Statement } from "./line.ts";

/** Runs one named prepared statement with its values, `$1` first. Throws translated errors. */
export type Prepared<Row> = (values: unknown[]) => Promise<Row[]>;

/** `statement` with those of the same turn of the event loop, which go to whichever of `lines` has least to do. */
export function prepare<Row>(lines: readonly [Line, ...Line[]], statement: Statement): Prepared<Row> {
  return async (values) => {
    const line = lines.find(({ gathering }) => gathering) ?? leastBusy(lines);
    const rows = await line.query(statement, values).catch((error: unknown) => {
      // Refused before it ran, so that sending it again, on the new connection, repeats nothing.
      if (hasStalePlan(error)) return line.query(statement, values);
      throw error;
    });
    // The caller names the columns and their types in `Row`: this path exists because it checks nothing.
    return rows as Row[];
  };
}

function leastBusy(lines: readonly [Line, ...Line[]]): Line {
  let least = lines[0];
  for (const line of lines) if (line.pending < least.pending) least = line;
  return least;
}
