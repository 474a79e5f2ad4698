import { withoutSecretWords } from "./concealed.ts";

/**
 * Data for stdout, with terminal control characters escaped, also line breaks: what the service says
 * must not pass for a line of the command.
 */
export function print(...lines: readonly string[]): void {
  for (const line of lines) printExact(visible(line));
}

/** Data for stdout, unchanged: values for programs, and text that is escaped already. */
export function printExact(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Data as JSON, indented for a terminal, otherwise in one line. */
export function printJson(value: unknown): void {
  printExact(process.stdout.isTTY ? harmless(JSON.stringify(value, null, 2)) : jsonLine(value));
}

/** Data as JSON in one line. */
export function jsonLine(value: unknown): string {
  return harmless(JSON.stringify(value));
}

/**
 * JSON escapes the control characters up to U+001F and unpaired surrogates. The other characters
 * that `visible` escapes occur only in strings, and are written as JSON escapes, so that a JSON
 * parser gets every character.
 */
function harmless(json: string): string {
  return json.replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** `1 record`, `2 records`. Only for regular plurals. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * A line on stderr. It may quote other people's text, so terminal control characters are escaped.
 */
export function printNotice(line: string): void {
  process.stderr.write(`${visible(withoutSecretWords(line))}\n`);
}

/**
 * Rows under their headings, in columns. Without a terminal: no headings, and tabs as separators
 * for `cut` and `awk`. `visible` escapes names, because other people choose them.
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
  const { styleText } = process.getBuiltinModule("node:util");
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
 * Other people's text in one line, safe for a terminal: control and format characters (which can
 * reorder or hide text), line and paragraph separators, unpaired surrogates, and characters that show
 * nothing or pass for a space (with which a name could equal another one) are shown as `\u{202e}`.
 */
export function visible(text: string): string {
  return text.replace(unseen, escaped);
}

// U+FE0F belongs to the pictograph before it. U+3000 is the space of Japanese. U+2800 is an empty
// Braille pattern.
const unseen =
  /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?<!\p{Extended_Pictographic})\ufe0f|(?![ \u3000])\p{Zs}/gu;

/** Like `visible`, but keeps line breaks. */
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
