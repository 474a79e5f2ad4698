import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { ImportError } from "../import-error.ts";
import type { LeftOut } from "../report.ts";
import { quotedColumn, unquoteCell } from "./quote-formula.ts";

/** A cell with a value, under an unknown heading. */
export interface OtherCell {
  /** As in the file; `column 6` for a sixth column without a heading. */
  heading: string;
  value: string;
}

/** One row: its cells by column name, and its first line. */
export interface CsvRow {
  /** From 1. */
  line: number;
  /** The cell's text; empty without such a column. */
  cell(column: string): string;
  /** The non-empty cells of all other columns, in order. */
  others: readonly OtherCell[];
}

export interface CsvTable {
  /** The headings in lower case. */
  columns: readonly string[];
  rows: CsvRow[];
  leftOut: LeftOut[];
  /** Changes to the whole table, in sentences for a person. */
  notes: string[];
}

/** How many lines a note names. */
const namedLines = 20;

/**
 * Reads a table with headings. Cells are separated by commas, semicolons or tabs. A row with more
 * cells than headings is omitted, because it is unknown which cell is the password; so is a row of
 * one cell, which may be the rest of the previous row. Shorter rows get empty cells, because some
 * programs omit those. Throws ImportError `broken` with the line, and for two columns with one
 * known name; quotes no cell.
 */
export function readCsv(text: string, known: readonly string[]): CsvTable {
  const [first, ...lines] = parseCsv(text);
  const headings = (first?.record ?? []).map((name) => name.trim());
  const columns = headings.map((name) => name.toLowerCase());
  const isKnown = (name: string): boolean => known.includes(name) || name === quotedColumn;
  refuseTwice(columns, isKnown);
  const positions = new Map(columns.map((name, index) => [name, index]));
  const others = headings
    .map((heading, index) => ({ heading: heading === "" ? `column ${index + 1}` : heading, index }))
    .filter(({ index }) => !isKnown(columns[index] ?? ""));
  const table: CsvTable = { columns, rows: [], leftOut: [], notes: [] };
  const early: number[] = [];
  for (const { record, line } of lines) {
    if (record.every((cell) => cell === "")) continue;
    if (record.length > columns.length || (record.length === 1 && columns.length > 1)) {
      const reason = `the row has ${cells(record.length)} under ${columns.length} headings`;
      table.leftOut.push({ kind: "item", item: `line ${line}`, reason });
      continue;
    }
    if (record.length < columns.length) early.push(line);
    const quoted = (record[positions.get(quotedColumn) ?? -1] ?? "").split(" ");
    const at = (index: number): string => {
      const cell = record[index] ?? "";
      return quoted.includes(columns[index] ?? "") ? unquoteCell(cell) : cell;
    };
    table.rows.push({
      line,
      cell: (column) => at(positions.get(column) ?? -1),
      others: others.map(({ heading, index }) => ({ heading, value: at(index) })).filter(({ value }) => value !== ""),
    });
  }
  if (early.length > 0) table.notes.push(earlyNote(early));
  return table;
}

function refuseTwice(columns: readonly string[], isKnown: (name: string) => boolean): void {
  const twice = columns.find((name, index) => isKnown(name) && columns.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new ImportError("broken", `the table has two columns "${twice}": remove or rename one of them`);
}

function earlyNote(lines: readonly number[]): string {
  const shown = lines.slice(0, namedLines).join(", ");
  const more = lines.length > namedLines ? `, and ${lines.length - namedLines} more` : "";
  return `rows with fewer cells than there are headings were read with empty cells at their end: line ${shown}${more}`;
}

function cells(count: number): string {
  return `${count} cell${count === 1 ? "" : "s"}`;
}

/** The headings of the file; none when the text is no table. */
export function csvHeadings(text: string): string[] {
  try {
    const [headings] = parseCsv(text, 1);
    return (headings?.record ?? []).map((name) => name.trim());
  } catch {
    return [];
  }
}

interface ParsedRow {
  record: string[];
  line: number;
}

function parseCsv(text: string, upTo = -1): ParsedRow[] {
  const [named = "", separator] = /^sep=([,;\t])(?:\r\n|\r|\n)/i.exec(text) ?? [];
  const table = withUsualBreaks(text.slice(named.length));
  try {
    const rows = parseWith(table, separator ?? separatorOf(table), upTo);
    return named === "" ? rows : rows.map(({ record, line }) => ({ record, line: line + 1 }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const at = typeof error["lines"] === "number" ? ` at line ${error["lines"]}` : "";
    throw new ImportError(
      "broken",
      `the table is broken${at}: a quotation mark is not closed, or stands inside a cell`,
    );
  }
}

function parseWith(text: string, delimiter: string, upTo: number): ParsedRow[] {
  const parsed: unknown[] = parse(text, {
    delimiter,
    // The library's guess would assume one kind for the whole file.
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    info: true,
    to: upTo,
  });
  // With `info` each entry has the record and the parser's position after it.
  return (parsed as { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
    record,
    line: info.lines - record.join("").split(/\r\n|\r|\n/).length + 1,
  }));
}

/** The separator that gives the most headings. Spreadsheets write semicolons in many countries. */
function separatorOf(text: string): string {
  const start = text.slice(0, 65_536);
  const counts = [",", ";", "\t"].map((separator) => ({ separator, count: headingsWith(start, separator) }));
  const most = Math.max(...counts.map(({ count }) => count));
  return counts.find(({ count }) => count === most)?.separator ?? ",";
}

function headingsWith(text: string, separator: string): number {
  try {
    return parseWith(text, separator, 1)[0]?.record.length ?? 0;
  } catch (error) {
    if (error instanceof CsvError) return 0;
    throw error;
  }
}

/** Some files have CR CR LF at the end of every line, including the headings. */
function withUsualBreaks(text: string): string {
  return /^[^\r\n]*\r{2,}\n/.test(text) ? text.replace(/\r{2,}\n/g, "\r\n") : text;
}
