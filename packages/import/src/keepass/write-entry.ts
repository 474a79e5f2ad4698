import type { ExportRecord } from "../export-record.ts";
import { ownPrefix } from "../draft.ts";
import { extraFields, withoutKeys } from "../extra-fields.ts";
import { keyToPem } from "../passkey-key.ts";
import { urisOf } from "../record.ts";
import type { LeftOut } from "../report.ts";
import { element, fitsXml, textElement } from "../xml/write-xml.ts";
import { isReserved, passkeyKeys, standardKeys } from "./string-keys.ts";
import { writeTotp } from "./totp-strings.ts";
import { uuidBase64 } from "./uuid-base64.ts";

interface EntryString {
  key: string;
  value: string;
  hidden?: boolean;
}

/** Names of our fields that a program is to cover with dots. */
const covered = /password|secret|private_key|passphrase|code|number|pin$|ssn|credential/;

/** One record as an entry. What it has no place for stands in strings named `coffer.…`, from which it is read again. */
export function entryXml(record: ExportRecord, leftOut: LeftOut[]): string {
  const { payload } = record;
  const strings = stringsOf(record).filter(({ key, value }) => {
    const fits = fitsXml(key + value);
    const reason = `XML cannot hold a character in "${key}"`;
    if (!fits) leftOut.push({ kind: "field", item: payload["name"] ?? record.id, reason });
    return fits;
  });
  const times = [
    ["CreationTime", payload["original_created_at"]],
    ["LastModificationTime", payload["original_updated_at"]],
    ["ExpiryTime", payload["expires_at"]],
    ["Expires", payload["expires_at"] === undefined ? "False" : "True"],
  ] as const;
  return element(
    "Entry",
    [
      textElement("UUID", uuidBase64(record.id)),
      ...(tagsFit(payload["tags"]) ? [textElement("Tags", (payload["tags"] ?? "").replaceAll("\n", ";"))] : []),
      element("Times", times.map(([name, value]) => (value === undefined ? "" : textElement(name, value))).join("")),
      ...strings.map(stringXml),
    ].join(""),
  );
}

function stringXml({ key, value, hidden = false }: EntryString): string {
  const attributes: Record<string, string> = hidden ? { ProtectInMemory: "True" } : {};
  return element("String", textElement("Key", key) + textElement("Value", value, attributes));
}

function stringsOf({ type, payload }: ExportRecord): EntryString[] {
  const strings: EntryString[] = [];
  const held = ["folder", "original_created_at", "original_updated_at", "expires_at"];
  if (tagsFit(payload["tags"])) held.push("tags");
  const hold = (field: string, key: string, value: string, hidden = false): void => {
    held.push(field);
    strings.push({ key, value, hidden });
  };
  if (type === "passkey")
    for (const [key, field] of Object.entries(passkeyKeys)) {
      const value = payload[field];
      if (value === undefined) continue;
      hold(field, key, field === "private_key" ? keyToPem(value) : value, field !== "rp_id" && field !== "username");
    }
  for (const [key, field] of Object.entries(standardKeys))
    if (!held.includes(field)) hold(field, key, payload[field] ?? "", field === "password");
  for (const [index, { key, uri }] of urisOf(payload).entries())
    hold(key, index === 0 ? "URL" : index === 1 ? "KP2A_URL" : `KP2A_URL_${index - 1}`, uri);
  if (payload["totp_secret"] !== undefined)
    for (const [key, value] of writeTotp(payload["totp_secret"])) hold("totp_secret", key, value, true);
  if (type !== readAs(payload)) strings.push({ key: `${ownPrefix}type`, value: type });
  for (const { label, value, kind } of extraFields(withoutKeys(payload, held))) {
    const own = label.startsWith(ownPrefix);
    // A name that a program gives a meaning is no name for somebody's field.
    const key = isReserved(label) ? `${ownPrefix}custom.${label}` : label;
    strings.push({ key, value, hidden: own ? covered.test(label) : kind === "hidden" });
    if (kind === "boolean" || kind === "linked" || (kind === "hidden" && key !== label))
      strings.push({ key: `${ownPrefix}custom_type.${label}`, value: kind });
  }
  return strings;
}

/** The type that such an entry is read as when nothing else says so. */
function readAs(payload: Record<string, string>): string {
  return ["username", "password", "totp_secret"].some((key) => payload[key]) || urisOf(payload).length > 0
    ? "login"
    : "secure_note";
}

/** KeePass parts tags by semicolons and commas. */
function tagsFit(tags: string | undefined): boolean {
  return tags !== undefined && tags !== "" && !/[;,\r]/.test(tags) && fitsXml(tags);
}
