import { readCsv } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { newDraft } from "../draft.ts";
import { ImportError } from "../import-error.ts";
import { newReading, type Reading } from "../report.ts";
import { checkMap, type ColumnMap, fieldsOfHeadings } from "../table/column-map.ts";
import { putCell } from "../table/put-cell.ts";

/** The columns of Chrome, Edge, Brave and related browsers; older ones have no note. */
export const columns = ["name", "url", "username", "password", "note"] as const;

/**
 * Reads the passwords of Chrome and related browsers. Other columns are read as in any table.
 * Throws ImportError `broken`, `wrong_format`.
 */
export function readChromeCsv(bytes: Uint8Array, map: ColumnMap): Reading {
  const table = readCsv(decodeText(bytes), columns);
  if (!["url", "username", "password"].every((name) => table.columns.includes(name)))
    throw new ImportError(
      "wrong_format",
      "this is no chrome-csv: the columns url, username and password were expected",
    );
  checkMap(map, table.columns, columns);
  const fieldOf = fieldsOfHeadings(map);
  const reading = newReading(table);
  for (const row of table.rows) {
    const draft = newDraft("login", row.cell("name"));
    draft.set("username", row.cell("username"));
    draft.set("password", row.cell("password"));
    draft.addUri(row.cell("url"));
    draft.set("notes", row.cell("note"));
    for (const cell of row.others) putCell(draft, fieldOf(cell.heading), cell);
    reading.records.push(draft.finish());
  }
  return reading;
}
