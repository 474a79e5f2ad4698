import { type CsvFile, writeCsv } from "../csv/write-csv.ts";
import { ownPrefix, typeMarker } from "../draft.ts";
import type { ExportRecord } from "../export-record.ts";
import { extraFields, withoutKeys } from "../extra-fields.ts";
import { uriKey, urisOf } from "../record.ts";
import type { LeftOut } from "../report.ts";
import { joinUris } from "./csv-uris.ts";
import { nestedName, whyNotAsFolder } from "./nested-name.ts";
import { noValue } from "./read-csv.ts";
import { switchedOn } from "./switched-on.ts";

const columns = [
  ...["folder", "favorite", "type", "name", "notes", "fields", "reprompt"],
  ...["login_uri", "login_username", "login_password", "login_totp"],
];
const held = ["name", "notes", "folder"];

/** Writes Bitwarden's CSV for a person: logins and notes, like Bitwarden itself. */
export function writeBitwardenCsv(
  records: readonly ExportRecord[],
  quoteAll: boolean,
): CsvFile & { leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const rows = records.flatMap((record) => rowOf(record, leftOut));
  const exact = quoteAll ? [] : ["login_username", "login_password", "login_totp"];
  return { ...writeCsv(columns, rows, { exact }), leftOut };
}

function rowOf({ id, type, payload }: ExportRecord, leftOut: LeftOut[]): Record<string, string>[] {
  const item = payload["name"] ?? id;
  if (type !== "login" && type !== "secure_note") {
    leftOut.push({ kind: "item", item, reason: `the format has no place for the type ${type}` });
    return [];
  }
  const uris = type === "login" ? urisOf(payload) : [];
  const ofLogin = type === "login" ? ["username", "password", "totp_secret", ...uris.map(({ key }) => key)] : [];
  const fields = payload["type"] === undefined ? [] : [`${typeMarker}: ${type}`];
  for (const { label, value, kind } of extraFields(
    withoutKeys(payload, [...held, ...switchedOn(payload), ...ofLogin]),
  )) {
    const reason = whyNot(label, value);
    if (reason !== undefined) leftOut.push({ kind: "field", item, reason: `the field "${label}": ${reason}` });
    else fields.push(`${label}: ${value}`);
    if (reason === undefined && kind !== "text")
      leftOut.push({ kind: "field", item, reason: `that the field "${label}" is ${kind}` });
  }
  const reason = whyNotAsFolder(payload["folder"] ?? "");
  if (reason !== undefined) leftOut.push({ kind: "field", item, reason });
  if (uris.some(({ key }, index) => key !== uriKey(index)))
    leftOut.push({ kind: "field", item, reason: "the numbers of its addresses" });
  return [
    {
      folder: nestedName(payload["folder"] ?? ""),
      favorite: payload["favorite"] === "true" ? "1" : "",
      type: type === "login" ? "login" : "note",
      name: payload["name"] ?? "",
      notes: payload["notes"] ?? "",
      fields: fields.join("\n"),
      reprompt: payload["reprompt"] === "true" ? "1" : "0",
      login_uri: joinUris(uris.map(({ uri }) => uri)),
      login_username: ofLogin.length === 0 ? "" : (payload["username"] ?? ""),
      login_password: ofLogin.length === 0 ? "" : (payload["password"] ?? ""),
      login_totp: ofLogin.length === 0 ? "" : (payload["totp_secret"] ?? ""),
    },
  ];
}

/** The format has one cell for all custom fields, one line each. */
function whyNot(label: string, value: string): string | undefined {
  if (label === ownPrefix) return "the format holds no field without a name";
  if (/[\r\n]/.test(label + value)) return "the format holds no line breaks in fields";
  if (label.includes(": ")) return 'the format holds no ": " in names of fields';
  if (value === noValue) return `"${noValue}" is what the format says for no value`;
  return undefined;
}
