import { type CsvRow, type OtherCell, readCsv } from "../csv/read-csv.ts";
import { decodeText } from "../decode-text.ts";
import { newDraft } from "../draft.ts";
import { ImportError } from "../import-error.ts";
import type { Include } from "../include.ts";
import { newReading, type Reading } from "../report.ts";
import { areHeadings, asCustom } from "./column-fields.ts";
import { checkMap, type ColumnMap, fieldsOfHeadings } from "./column-map.ts";
import { isOn, putCell } from "./put-cell.ts";

/** The record types of words in the type column. */
const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    login: ["login", "password", "website"],
    secure_note: ["securenote", "note", "notes"],
    card: ["card", "creditcard", "paymentcard"],
    identity: ["identity", "personalinfo"],
    ssh_key: ["sshkey"],
    database: ["database"],
    api_credential: ["apicredential"],
  }).flatMap(([type, words]) => words.map((word) => [word, type] as const)),
);

/** A cell with the field of its column. */
interface Cell extends OtherCell {
  field: string;
}

/**
 * Reads any table with headings. Headings that are known, or that `map` names, become fields; every
 * other column becomes a custom field. Throws ImportError `broken`, `wrong_format`.
 */
export function readTable(bytes: Uint8Array, include: Include, map: ColumnMap): Reading {
  const text = decodeText(bytes);
  const table = readCsv(text, []);
  checkMap(map, table.columns);
  refuseTwice(table.columns);
  if (table.columns.length < 2)
    throw new ImportError("wrong_format", "this is no csv: a table with headings was expected");
  if (Object.keys(map).length === 0 && !areHeadings(table.columns))
    throw new ImportError(
      "wrong_format",
      `none of the table's ${table.columns.length} headings is known: say what they mean with --map <heading>=<field>`,
    );
  const fieldOf = fieldsOfHeadings(map);
  const reading = newReading(table);
  const rows = table.rows.map((row) => ({
    row,
    cells: row.others.map((cell) => ({ ...cell, field: fieldOf(cell.heading) })),
  }));
  const folders = new Set(rows.map(({ cells }) => valueOf(cells, "folder")));
  for (const { row, cells } of rows) readRow(row, cells, { include, reading, folders });
  return reading;
}

interface Context {
  include: Include;
  reading: Reading;
  /** The folders of the rows. */
  folders: ReadonlySet<string>;
}

function readRow({ line }: CsvRow, cells: readonly Cell[], { include, reading, folders }: Context): void {
  const name = valueOf(cells, "name");
  const word = valueOf(cells, "type")
    .toLowerCase()
    .replace(/[\s_-]/g, "");
  if (
    word === "folder" &&
    cells.every(({ field, value }) => ["name", "type", "folder"].includes(field) || value === "")
  ) {
    if (!folders.has(name))
      reading.leftOut.push({ kind: "setting", item: null, reason: `the folder "${name}" has a row of its own` });
    return;
  }
  if (isOn(valueOf(cells, "archived")) && !include.archived) {
    reading.leftOut.push({ kind: "item", item: name === "" ? `line ${line}` : name, reason: "it is archived" });
    return;
  }
  const type = types.get(word);
  const draft = newDraft(type ?? typeOf(cells), name);
  // An account that is identified by its e-mail address has no other user name.
  const byEmail = (type ?? typeOf(cells)) === "login" && valueOf(cells, "username") === "";
  for (const cell of cells)
    if (cell.field === "type") {
      if (type === undefined) putCell(draft, "kind", cell);
    } else if (cell.field === "email" && byEmail && !draft.has("username")) putCell(draft, "username", cell);
    else putCell(draft, cell.field, cell);
  reading.records.push(draft.finish());
}

/** The type of a row without one. */
function typeOf(cells: readonly Cell[]): string {
  const has = (...fields: string[]): boolean => fields.some((field) => valueOf(cells, field) !== "");
  if (has("private_key")) return "ssh_key";
  if (has("password", "username", "totp_secret", "uri")) return "login";
  if (has("number", "cardholder_name", "code")) return "card";
  if (has("first_name", "last_name", "address_1", "city", "phone", "ssn", "passport_number")) return "identity";
  return has("email") ? "login" : "secure_note";
}

function valueOf(cells: readonly Cell[], field: string): string {
  return cells.find((cell) => cell.field === field)?.value ?? "";
}

/** Refuses two columns with the same known heading, because it is unknown which is meant. */
function refuseTwice(columns: readonly string[]): void {
  const fieldOf = fieldsOfHeadings({});
  const twice = columns.find((name, index) => columns.indexOf(name) !== index && fieldOf(name) !== asCustom);
  if (twice !== undefined)
    throw new ImportError("broken", `the table has two columns "${twice}": remove or rename one of them`);
}
