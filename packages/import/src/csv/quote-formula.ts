/**
 * The column of our tables with quoted cells: it names the columns of that row's quoted cells,
 * separated by spaces. Other programs ignore an unknown column.
 */
export const quotedColumn = "coffer_quoted";

/** Whether a spreadsheet would take the cell for a formula and execute it. */
export function isFormula(cell: string): boolean {
  return /^[=+\-@\t\r\n]/.test(cell);
}

/** The cell as text for a spreadsheet. */
export function quoteCell(cell: string): string {
  return `'${cell}`;
}

/** The inverse of `quoteCell`. */
export function unquoteCell(cell: string): string {
  return cell.startsWith("'") ? cell.slice(1) : cell;
}
