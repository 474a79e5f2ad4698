import { hasStalePlan } from "./failure.ts";
import type { Line, Statement } from "./line.ts";

/** Runs one named prepared statement with its values, `$1` first. Throws translated errors. */
export type Prepared<Row> = (values: unknown[]) => Promise<Row[]>;

type Lines = readonly [Line, ...Line[]];

/**
 * Statements of one turn of the event loop together, on whichever line has least to do: together they cost one write to
 * a socket. For reads, which do not hold each other up.
 */
export function together(lines: Lines): Line {
  return lines.find(({ gathering }) => gathering) ?? apart(lines);
}

/** Each statement on whichever line has least to do. For writes: one waits for the commit of the one before it. */
export function apart(lines: Lines): Line {
  let least = lines[0];
  for (const line of lines) if (line.pending < least.pending) least = line;
  return least;
}

/** `statement` on the line that `choose` takes of `lines` each time. */
export function prepare<Row>(lines: Lines, choose: (lines: Lines) => Line, statement: Statement): Prepared<Row> {
  return async (values) => {
    const line = choose(lines);
    const rows = await line.query(statement, values).catch((error: unknown) => {
      // Refused before it ran, so that sending it again, on the new connection, repeats nothing.
      if (hasStalePlan(error)) return line.query(statement, values);
      throw error;
    });
    // The caller names the columns and their types in `Row`: this path exists because it checks nothing.
    return rows as Row[];
  };
}
