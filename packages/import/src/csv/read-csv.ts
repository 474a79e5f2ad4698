import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { ImportError } from "../import-error.ts";
import type { LeftOut } from "../report.ts";
import { quotedColumn, unquoteCell } from "./quote-formula.ts";

/** One row: its cells by the names of their columns, and where it begins. */
export interface CsvRow {
  /** From 1. */
  line: number;
  /** The cell's text; empty where there is no such column. */
  cell(column: string): string;
}

export interface CsvTable {
  columns: readonly string[];
  rows: CsvRow[];
  leftOut: LeftOut[];
}

/**
 * Reads a table with headings. Rows that have another number of cells than the headings are left out, because it is not
 * known which cell is the password; and so are, told once each, columns that `known` does not name.
 * Throws ImportError `broken` with the line, and for two columns of one known name; quotes no cell.
 */
export function readCsv(text: string, known: readonly string[]): CsvTable {
  const [headings, ...lines] = parseCsv(text);
  const columns = (headings?.record ?? []).map((name) => name.trim().toLowerCase());
  const table: CsvTable = { columns, rows: [], leftOut: [] };
  const isKnown = (name: string): boolean => known.includes(name) || name === quotedColumn;
  const twice = columns.find((name, index) => isKnown(name) && columns.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ImportError("broken", `the table has two columns "${twice}": take away the one that is not meant`);
  const strangeWithValues = new Set<string>();
  for (const { record, line } of lines) {
    if (record.length !== columns.length) {
      const reason = `the row has ${record.length} cells under ${columns.length} headings`;
      table.leftOut.push({ kind: "item", item: `line ${line}`, reason });
      continue;
    }
    const row = rowOf(columns, record, line);
    for (const [index, name] of columns.entries())
      if (!isKnown(name) && record[index] !== "") strangeWithValues.add(name);
    table.rows.push(row);
  }
  for (const name of strangeWithValues)
    table.leftOut.push({ kind: "field", item: null, reason: `the column "${name}" is none of this format's` });
  return table;
}

function rowOf(columns: readonly string[], record: readonly string[], line: number): CsvRow {
  const raw = (column: string): string => record[columns.indexOf(column)] ?? "";
  const quoted = raw(quotedColumn).split(" ");
  return { line, cell: (column) => (quoted.includes(column) ? unquoteCell(raw(column)) : raw(column)) };
}

/** The names of the columns, where the text is a table at all. */
export function csvHeadings(text: string): string[] {
  try {
    const [headings] = parseCsv(text, 1);
    return (headings?.record ?? []).map((name) => name.trim().toLowerCase());
  } catch {
    return [];
  }
}

function parseCsv(text: string, upTo = -1): { record: string[]; line: number }[] {
  try {
    const parsed: unknown[] = parse(withUsualBreaks(text), {
      // Never the platform's guess, which takes one kind for the whole file.
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      skip_empty_lines: true,
      info: true,
      to: upTo,
    });
    // With `info` each entry is the record beside where the parser was when it ended.
    return (parsed as { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
      record,
      line: info.lines - record.join("").split(/\r\n|\r|\n/).length + 1,
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const at = typeof error["lines"] === "number" ? ` at line ${error["lines"]}` : "";
    throw new ImportError(
      "broken",
      `the table is broken${at}: a quotation mark is not closed, or stands inside a cell`,
    );
  }
}

/** Some files have CR CR LF at the end of every line, also of the headings. */
function withUsualBreaks(text: string): string {
  return /^[^\r\n]*\r{2,}\n/.test(text) ? text.replace(/\r{2,}\n/g, "\r\n") : text;
}
