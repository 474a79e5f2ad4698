import { type CsvRow, readCsv } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { newDraft } from "../draft.ts";
import { joinFolder } from "../folder-path.ts";
import { ImportError } from "../import-error.ts";
import { newReading, type Reading } from "../report.ts";
import { checkMap, type ColumnMap, fieldsOfHeadings } from "../table/column-map.ts";
import { putCell } from "../table/put-cell.ts";
import { noteDraft } from "./read-note.ts";

export const columns = ["url", "username", "password", "totp", "extra", "name", "grouping", "fav"];

/** LastPass's address of a folder. */
const folderUrl = "http://group";

/**
 * Reads LastPass's CSV: sites, and secure notes with the address `http://sn`. Throws ImportError
 * `broken`, `wrong_format`.
 */
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
  /** The folders of the rows. */
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
    // LastPass's address of a site without one.
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

const escapes: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#039;": "'",
};
const escape = /&(?:amp|lt|gt|quot|#0?39);/g;

/**
 * Whether a file's values are escaped for HTML. Some exports of LastPass do that without saying so.
 * They are if there are escapes, and nowhere an unescaped character.
 */
function escapedFile(values: readonly string[]): boolean {
  const all = values.filter((value) => /[&<>]/.test(value));
  return all.length > 0 && all.every((value) => !/[&<>]/.test(value.replace(escape, "")));
}

/** The value as it was before it was escaped. */
function unescapeHtml(value: string): string {
  return value.replace(escape, (name) => escapes[name] ?? name);
}
