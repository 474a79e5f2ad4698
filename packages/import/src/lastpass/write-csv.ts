import { type CsvFile, writeCsv } from "../csv/write-csv.ts";
import type { ExportRecord } from "../export-record.ts";
import { splitFolder } from "../folder-path.ts";
import { columns } from "./read-csv.ts";

export const lastpassTypes: readonly string[] = ["login", "secure_note"];

/**
 * Writes logins and notes in LastPass's form. The caller must report the fields without a column.
 */
export function writeLastpassCsv(records: readonly ExportRecord[], quoteAll: boolean): CsvFile {
  const rows = records.map(({ type, payload }) => ({
    // LastPass's addresses of a note, and of a site without one.
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

/** Why the table does not preserve a field. */
export function whyNotInLastpassCsv(field: string): string {
  const held = ["name", "uri", "username", "password", "totp_secret", "notes", "folder", "favorite"].includes(field);
  return held ? `"${field}" is read there as something else` : `the format has no place for ${field}`;
}
