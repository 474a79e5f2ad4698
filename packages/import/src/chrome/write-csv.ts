import { type CsvFile, writeCsv } from "../csv/write-csv.ts";
import type { ExportRecord } from "../export-record.ts";
import { withoutKeys } from "../extra-fields.ts";
import type { LeftOut } from "../report.ts";
import { columns } from "./read-csv.ts";

const held = ["name", "uri", "username", "password", "notes"];

/** Writes passwords for Chrome. Other fields of a login, and all other types, are omitted. */
export function writeChromeCsv(records: readonly ExportRecord[], quoteAll: boolean): CsvFile & { leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const rows = records.flatMap(({ id, type, payload }) => {
    const item = payload["name"] ?? id;
    if (type !== "login") {
      leftOut.push({ kind: "item", item, reason: `the format has no place for the type ${type}` });
      return [];
    }
    const others = Object.keys(withoutKeys(payload, held));
    if (others.length > 0)
      leftOut.push({ kind: "field", item, reason: `the format has no place for ${others.join(", ")}` });
    const { name = "", uri = "", username = "", password = "", notes = "" } = payload;
    return [{ name, url: uri, username, password, note: notes }];
  });
  return { ...writeCsv(columns, rows, { exact: quoteAll ? [] : ["username", "password"] }), leftOut };
}
