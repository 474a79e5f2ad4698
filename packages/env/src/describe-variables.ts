import { commandNames } from "./names.ts";
import { variables } from "./variables.ts";

/** The table of variables for a terminal: a line with name and default, a line with the meaning. */
export function describeVariables(): string {
  const rows = Object.values(variables).filter((row) => !row.internal);
  const width = Math.max(...rows.map((row) => row.name.length));
  const lines = rows.flatMap((row) => [
    `  ${row.name.padEnd(width)}  default: ${row.shownDefault}`,
    `  ${"".padEnd(width)}  ${row.meaning}`,
  ]);
  return [
    "Configuration is by environment. Each variable may also be given as <NAME>_FILE, a path to read it from.",
    "",
    ...lines,
    "",
    `Known to the command line and ignored by the server: ${commandNames.join(", ")}.`,
  ].join("\n");
}
