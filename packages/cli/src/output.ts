import { styleText } from "node:util";
import { withoutSecretWords } from "./concealed.ts";

/** Data for stdout, with what could steer the terminal shown escaped. May have several lines. */
export function print(text: string): void {
  printExact(visibleLines(text));
}

/** Data for stdout as it is, byte for byte: values for programs, and what was escaped already. */
export function printExact(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Data as JSON, indented for a terminal and in one line for a program. */
export function printJson(value: unknown): void {
  printExact(process.stdout.isTTY ? harmless(JSON.stringify(value, null, 2)) : jsonLine(value));
}

/** Data as JSON in one line. */
export function jsonLine(value: unknown): string {
  return harmless(JSON.stringify(value));
}

/**
 * JSON escapes the control characters up to U+001F and unpaired surrogates. The rest of what `visible` escapes stands in
 * strings only and is written as JSON's own escapes, so that a reader of the JSON gets every character.
 */
function harmless(json: string): string {
  return json.replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** `1 record`, `2 records`: of a noun whose plural is regular. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A line that is not data. It may quote what others chose: what could steer the terminal is shown escaped. */
export function tell(line: string): void {
  process.stderr.write(`${visible(withoutSecretWords(line))}\n`);
}

/**
 * Rows under their headings, in columns. Without a terminal: no headings and tabs between, for `cut` and `awk`.
 * Names that others chose are shown by `visible`, so that they cannot steer the terminal.
 */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = rows.map((row) => row.map(visible));
  if (!process.stdout.isTTY) {
    for (const row of cells) printExact(row.join("\t"));
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
  printExact(styleText("bold", line(headings), { stream: process.stdout }));
  for (const row of cells) printExact(line(row));
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

/**
 * Text that others chose, in one line and safe to show on a terminal: control and format characters (which reorder or
 * hide what stands around them), line and paragraph separators and unpaired surrogates are shown as `\u{202e}`.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escaped);
}

/** Text as `visible` shows it, but with its line breaks. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function escaped(sign: string): string {
  return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A time for a person: UTC, to the second. */
export function shortTime(timestamp: string | null): string {
  return timestamp === null ? "never" : timestamp.replace(/\.\d+Z$/, "Z");
}
