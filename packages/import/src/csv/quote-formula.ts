/**
 * The column that a table of ours has when cells in it were quoted: it names the columns of that row's quoted cells, with
 * spaces between. Other programs pass over a column that they do not know.
 */
export const quotedColumn = "coffer_quoted";

/** Whether a spreadsheet would take the cell for a formula, and carry it out. */
export function isFormula(cell: string): boolean {
  return /^[=+\-@\t\r\n]/.test(cell);
}

/** The cell as text for a spreadsheet. */
export function quoteCell(cell: string): string {
  return `'${cell}`;
}

/** What `quoteCell` was given. */
export function unquoteCell(cell: string): string {
  return cell.startsWith("'") ? cell.slice(1) : cell;
}
