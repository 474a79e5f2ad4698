import { isFormula, quoteCell, quotedColumn } from "./quote-formula.ts";

export interface CsvFile {
  text: string;
  /** How many cells of `exact` columns a spreadsheet would take for a formula. */
  formulas: number;
}

export interface CsvOptions {
  /** Columns whose cells are never quoted. */
  exact: readonly string[];
}

/**
 * A table with headings, every cell in quotation marks, lines ended by CR LF (RFC 4180). Cells that
 * a spreadsheet would take for a formula get an apostrophe, except in `exact` columns; then an
 * extra column names them.
 */
export function writeCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string>>[],
  { exact }: CsvOptions,
): CsvFile {
  const quotedOf = rows.map((row) =>
    columns.filter((column) => !exact.includes(column) && isFormula(row[column] ?? "")),
  );
  const quoting = quotedOf.some((quoted) => quoted.length > 0);
  const lines = rows.map((row, index) => {
    const quoted = quotedOf[index] ?? [];
    const cells = columns.map((column) =>
      quoted.includes(column) ? quoteCell(row[column] ?? "") : (row[column] ?? ""),
    );
    return quoting ? [...cells, quoted.join(" ")] : cells;
  });
  const text = [quoting ? [...columns, quotedColumn] : columns, ...lines]
    .map((cells) => `${cells.map(quotedCell).join(",")}\r\n`)
    .join("");
  const formulas = rows.flatMap((row) => exact.filter((column) => isFormula(row[column] ?? ""))).length;
  return { text, formulas };
}

function quotedCell(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}
