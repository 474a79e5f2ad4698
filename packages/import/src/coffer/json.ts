import { decodeJson } from "../decode-text.ts";
import type { ExportRecord } from "../export-record.ts";
import { ImportError } from "../import-error.ts";
import { asObject, asText, isObject, otherMembers } from "../loose.ts";
import { type PlainRecord, recordTypePattern } from "../record.ts";
import { newReading, type Reading } from "../report.ts";

/** The version of the format. A reader refuses a later one. */
const version = 1;

/** Coffer's own JSON: every record unchanged, with its type, its id and all its fields. */
export function writeCofferJson(records: readonly ExportRecord[]): string {
  return `${JSON.stringify({ format: "coffer", version, records }, null, 2)}\n`;
}

/** Reads what `writeCofferJson` wrote. Throws ImportError `broken`, `wrong_format`. */
export function readCofferJson(bytes: Uint8Array): Reading {
  const file = asObject(decodeJson(bytes));
  if (file["format"] !== "coffer" || !Array.isArray(file["records"]))
    throw new ImportError("wrong_format", 'this is no coffer-json: `"format": "coffer"` and `records` were expected');
  if (file["version"] !== version)
    throw new ImportError("wrong_format", "this coffer-json is of a later version: a newer `coffer` reads it");
  const reading = newReading();
  for (const [index, entry] of file["records"].entries()) {
    const record = recordOf(entry);
    if (record === undefined) {
      const reason = "it is no record: a `type` and a `payload` of texts were expected";
      reading.leftOut.push({ kind: "item", item: `item ${index + 1}`, reason });
      continue;
    }
    reading.records.push(record);
    for (const [key] of otherMembers(asObject(entry), ["id", "type", "payload"]))
      reading.leftOut.push({
        kind: "field",
        item: asText(record.payload["name"]),
        reason: `"${key}", which is not known`,
      });
  }
  for (const [key] of otherMembers(file, ["format", "version", "records"]))
    reading.leftOut.push({ kind: "field", item: null, reason: `"${key}", which is not known` });
  return reading;
}

function recordOf(entry: unknown): PlainRecord | undefined {
  const { type, payload } = asObject(entry);
  if (typeof type !== "string" || !recordTypePattern.test(type) || !isObject(payload)) return undefined;
  const fields = Object.entries(payload).filter((field): field is [string, string] => typeof field[1] === "string");
  return fields.length === Object.keys(payload).length ? { type, payload: Object.fromEntries(fields) } : undefined;
}
