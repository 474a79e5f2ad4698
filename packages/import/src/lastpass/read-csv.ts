import { readCsv } from "../csv/read-csv.ts";
import type { CsvRow } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { newDraft } from "../draft.ts";
import { joinFolder } from "../folder-path.ts";
import { ImportError } from "../import-error.ts";
import { newReading } from "../report.ts";
import type { Reading } from "../report.ts";
import { checkMap, fieldsOfHeadings } from "../table/column-map.ts";
import type { ColumnMap } from "../table/column-map.ts";
import { putCell } from "../table/put-cell.ts";
import { escapedFile, unescapeHtml } from "./html-escapes.ts";
import { noteDraft } from "./read-note.ts";

/** The columns that LastPass writes. */
export const columns = ["url", "username", "password", "totp", "extra", "name", "grouping", "fav"];

/** What LastPass writes as the address of a folder. */
const folderUrl = "http://group";

/** LastPass's CSV: sites, and secure notes under the address `http://sn`. Throws ImportError `broken`, `wrong_format`. */
export function readLastpassCsv(bytes: Uint8Array, map: ColumnMap): Reading {
  const table = readCsv(decodeText(bytes), columns);
  if (!["url", "username", "password", "extra", "grouping"].every((name) => table.columns.includes(name)))
    throw new ImportError(
      "wrong_format",
      "this is no lastpass-csv: the columns url, username, password, extra, name and grouping were expected",
    );
  checkMap(map, table.columns, columns);
  const reading = newReading(table);
  const escaped = escapedFile(table.rows.flatMap((row) => columns.map((column) => row.cell(column))));
  if (escaped) reading.notes.push("every value in this file is escaped as in HTML (&amp; for &), and was read so");
  const folders = new Set(table.rows.filter((row) => row.cell("url") !== folderUrl).map((row) => row.cell("grouping")));
  const context: Context = { reading, fieldOf: fieldsOfHeadings(map), folders };
  for (const row of table.rows) readRow(escaped ? unescaped(row) : row, context);
  return reading;
}

interface Context {
  reading: Reading;
  fieldOf: (heading: string) => string;
  /** The folders that rows are in. */
  folders: ReadonlySet<string>;
}

function unescaped({ line, cell, others }: CsvRow): CsvRow {
  return {
    line,
    cell: (column) => unescapeHtml(cell(column)),
    others: others.map(({ heading, value }) => ({ heading, value: unescapeHtml(value) })),
  };
}

function readRow(row: CsvRow, { reading, fieldOf, folders }: Context): void {
  const [url, name, extra] = [row.cell("url"), row.cell("name"), row.cell("extra")];
  const folder = joinFolder(row.cell("grouping").split("\\"));
  const more = ["username", "password", "extra", "totp"].some((column) => row.cell(column) !== "");
  if (url === folderUrl && !more && row.others.length === 0) {
    if (!folders.has(row.cell("grouping")))
      reading.leftOut.push({ kind: "setting", item: null, reason: `the folder "${folder}" has a row of its own` });
    return;
  }
  const isNote = url === "http://sn";
  const draft = isNote ? noteDraft(name, extra) : newDraft("login", name);
  draft.set("username", row.cell("username"));
  draft.set("password", row.cell("password"));
  if (!isNote) {
    // What LastPass writes for a site without an address.
    if (url !== "http://") draft.addUri(url);
    draft.set("notes", extra);
  }
  draft.set("totp_secret", row.cell("totp"));
  draft.set("folder", folder);
  const fav = row.cell("fav");
  if (fav !== "") putCell(draft, "favorite", { heading: "fav", value: fav });
  for (const cell of row.others) putCell(draft, fieldOf(cell.heading), cell);
  reading.records.push(draft.finish());
}
