import { styleText } from "node:util";

/** Data, for whoever reads stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Data as JSON, indented for a terminal and in one line for a program. */
export function printJson(value: unknown): void {
  print(process.stdout.isTTY ? harmless(JSON.stringify(value, null, 2)) : jsonLine(value));
}

/** Data as JSON in one line. */
export function jsonLine(value: unknown): string {
  return harmless(JSON.stringify(value));
}

/** JSON escapes the control characters up to U+001F; terminals obey those after U+007E too. They are in strings only. */
function harmless(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

/** `1 record`, `2 records`: of a noun whose plural is regular. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Everything that is not data. It may quote what others chose: control characters but line breaks are shown as `?`. */
export function tell(text: string): void {
  process.stderr.write(`${visibleLines(text)}\n`);
}

/**
 * Rows under their headings, in columns. Without a terminal: no headings and tabs between, for `cut` and `awk`.
 * Control characters in names that others chose are shown as `?`, so that they cannot steer the terminal.
 */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = rows.map((row) => row.map(visible));
  if (!process.stdout.isTTY) {
    for (const row of cells) print(row.join("\t"));
    return;
  }
  if (rows.length === 0) return;
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  print(styleText("bold", line(headings), { stream: process.stdout }));
  for (const row of cells) print(line(row));
}

/** A list: as JSON with `--json`, else as rows. */
export function printList<Thing>(
  things: readonly Thing[],
  { json }: { json?: boolean | undefined },
  headings: readonly string[],
  cellsOf: (thing: Thing) => readonly string[],
): void {
  if (json === true) printJson(things);
  else printTable(headings, things.map(cellsOf));
}

/** Text that others chose, safe to show on a terminal. */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}

/** The same, with its line breaks. */
export function visibleLines(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, "?");
}

/** A time for a person: UTC, to the second. */
export function shortTime(timestamp: string | null): string {
  return timestamp === null ? "never" : timestamp.replace(/\.\d+Z$/, "Z");
}
