import { writeCsv } from "../csv/write-csv.ts";
import type { CsvFile } from "../csv/write-csv.ts";
import type { ExportRecord } from "../export-record.ts";
import { splitFolder } from "../folder-path.ts";
import { columns } from "./read-csv.ts";

/** The types of records that the table has rows for. */
export const lastpassTypes: readonly string[] = ["login", "secure_note"];

/** Logins and notes as LastPass writes them. What has no column is not in it: whoever calls this says what that is. */
export function writeLastpassCsv(records: readonly ExportRecord[], quoteAll: boolean): CsvFile {
  const rows = records.map(({ type, payload }) => ({
    // What LastPass writes for a note, and for a site without an address.
    url: type === "secure_note" ? "http://sn" : (payload["uri"] ?? "http://"),
    username: payload["username"] ?? "",
    password: payload["password"] ?? "",
    totp: payload["totp_secret"] ?? "",
    extra: payload["notes"] ?? "",
    name: payload["name"] ?? "",
    grouping: splitFolder(payload["folder"] ?? "").join("\\"),
    fav: payload["favorite"] === "true" ? "1" : "0",
  }));
  return writeCsv(columns, rows, { exact: quoteAll ? [] : ["username", "password", "totp"] });
}

/** Why the table does not give a field back. */
export function whyNotInLastpassCsv(field: string): string {
  const held = ["name", "uri", "username", "password", "totp_secret", "notes", "folder", "favorite"].includes(field);
  return held ? `"${field}" is read there as something else` : `the format has no place for ${field}`;
}
