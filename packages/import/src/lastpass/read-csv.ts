import { readCsv } from "../csv/read-csv.ts";
import type { CsvRow } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { newDraft } from "../draft.ts";
import { joinFolder } from "../folder-path.ts";
import { ImportError } from "../import-error.ts";
import { newReading } from "../report.ts";
import type { Reading } from "../report.ts";
import { escapedFile, unescapeHtml } from "./html-escapes.ts";
import { noteDraft } from "./read-note.ts";

/** The columns that LastPass writes. */
export const columns = ["url", "username", "password", "totp", "extra", "name", "grouping", "fav"];

/** LastPass's CSV: sites, and secure notes under the address `http://sn`. Throws ImportError `broken`, `wrong_format`. */
export function readLastpassCsv(bytes: Uint8Array): Reading {
  const table = readCsv(decodeText(bytes), columns);
  if (!["url", "username", "password", "extra", "grouping"].every((name) => table.columns.includes(name)))
    throw new ImportError(
      "wrong_format",
      "this is no lastpass-csv: the columns url, username, password, extra, name and grouping were expected",
    );
  const reading = newReading(table.leftOut);
  const escaped = escapedFile(table.rows.flatMap((row) => columns.map((column) => row.cell(column))));
  if (escaped) reading.notes.push("every value in this file is escaped as in HTML (&amp; for &), and was read so");
  for (const row of table.rows) readRow(escaped ? unescaped(row) : row, reading);
  return reading;
}

function unescaped({ line, cell }: CsvRow): CsvRow {
  return { line, cell: (column) => unescapeHtml(cell(column)) };
}

function readRow(row: CsvRow, reading: Reading): void {
  const [url, name, extra] = [row.cell("url"), row.cell("name"), row.cell("extra")];
  const folder = joinFolder(row.cell("grouping").split("\\"));
  if (url === "http://group") {
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
  if (row.cell("fav") === "1") draft.set("favorite", "true");
  reading.records.push(draft.finish());
}
