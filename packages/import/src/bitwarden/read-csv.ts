import { type CsvRow, readCsv } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { type Draft, newDraft } from "../draft.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { newReading, type Reading } from "../report.ts";
import { checkMap, type ColumnMap, fieldsOfHeadings } from "../table/column-map.ts";
import { putCell } from "../table/put-cell.ts";
import { splitUris } from "./csv-uris.ts";
import { joinNested } from "./nested-name.ts";

/** Bitwarden's columns: `folder` and `favorite` for a person, `collections` for an organization. */
export const columns = [
  "folder",
  "favorite",
  "type",
  "name",
  "notes",
  "fields",
  "reprompt",
  "archivedDate",
  "login_uri",
  "login_username",
  "login_password",
  "login_totp",
] as const;
const known = [...columns.map((name) => name.toLowerCase()), "collections"];

/** Bitwarden's text for a linked custom field, and for one without a value. */
export const noValue = "undefined";

/** Reads Bitwarden's CSV of logins and notes. Throws ImportError `broken`, `wrong_format`. */
export function readBitwardenCsv(bytes: Uint8Array, include: Include, map: ColumnMap): Reading {
  const table = readCsv(decodeText(bytes), known);
  if (!["name", "login_username", "login_password"].every((name) => table.columns.includes(name)))
    throw new ImportError(
      "wrong_format",
      "this is no bitwarden-csv: the columns name, login_username and login_password were expected",
    );
  checkMap(map, table.columns, known);
  const fieldOf = fieldsOfHeadings(map);
  const reading = newReading(table);
  for (const row of table.rows) readRow(row, { include, reading, fieldOf });
  return reading;
}

interface Context {
  include: Include;
  reading: Reading;
  fieldOf: (heading: string) => string;
}

function readRow(row: CsvRow, { include, reading, fieldOf }: Context): void {
  const name = row.cell("name");
  const leaveOut = (reason: string): void => {
    reading.leftOut.push({ kind: "item", item: name === "" ? `line ${row.line}` : name, reason });
  };
  const type = row.cell("type").toLowerCase();
  if (type !== "login" && type !== "note" && type !== "") {
    leaveOut(`its kind "${type}" is none that this format has`);
    return;
  }
  const archived = row.cell("archiveddate") !== "";
  if (archived && !include.archived) {
    leaveOut("it is archived");
    return;
  }
  const draft = newDraft(type === "note" ? "secure_note" : "login", name);
  draft.set("username", row.cell("login_username"));
  draft.set("password", row.cell("login_password"));
  draft.set("totp_secret", row.cell("login_totp"));
  for (const uri of splitUris(row.cell("login_uri"))) draft.addUri(uri);
  draft.set("notes", row.cell("notes"));
  for (const { label, value } of fieldsIn(row.cell("fields")))
    if (value !== noValue) draft.custom(label, value);
    else
      reading.leftOut.push({
        kind: "field",
        item: name === "" ? `line ${row.line}` : name,
        reason: `the field "${label}", for which the table says "${noValue}"`,
      });
  readFolders(draft, row);
  for (const heading of ["favorite", "reprompt"]) {
    const value = row.cell(heading);
    if (value !== "") putCell(draft, heading, { heading, value });
  }
  if (archived) draft.set("archived", "true");
  for (const cell of row.others) putCell(draft, fieldOf(cell.heading), cell);
  reading.records.push(draft.finish());
}

/**
 * Bitwarden joins an organization's collections with bare commas. A comma before a space is part of
 * a name.
 */
function readFolders(draft: Draft, row: CsvRow): void {
  const collections = row.cell("collections").split(/,(?!\s)/);
  const folder = row.cell("folder");
  draft.set("folder", joinNested(folder === "" ? (collections[0] ?? "") : folder));
  if (collections.length > 1) draft.set("collections", collections.map(joinNested).join("\n"));
}

/**
 * Lines of `name: value`. A line without that form continues the previous value, because Bitwarden
 * does not escape breaks.
 */
function fieldsIn(cell: string): { label: string; value: string }[] {
  const fields: { label: string; value: string }[] = [];
  if (cell === "") return fields;
  // Every other element is a line break.
  const parts = cell.split(/(\r?\n)/);
  for (const [index, line] of parts.entries()) {
    if (index % 2 === 1) continue;
    const at = line.indexOf(": ");
    const last = fields.at(-1);
    if (at === -1 && last !== undefined) last.value += `${parts[index - 1] ?? ""}${line}`;
    else fields.push({ label: line.slice(0, Math.max(at, 0)), value: at === -1 ? line : line.slice(at + 2) });
  }
  return fields;
}
