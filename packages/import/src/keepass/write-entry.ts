import type { ExportRecord } from "../export-record.ts";
import { ownPrefix, typeMarker } from "../draft.ts";
import { extraFields, saysType, withoutKeys } from "../extra-fields.ts";
import { keyToPem } from "../passkey-key.ts";
import { urisOf } from "../record.ts";
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
export function entryXml(record: ExportRecord): string {
  const { payload } = record;
  const strings = stringsOf(record).filter(({ key, value }) => fitsXml(key + value));
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

function stringsOf(record: ExportRecord): EntryString[] {
  const { type, payload } = record;
  const strings: EntryString[] = [];
  const held = ["folder", "original_created_at", "original_updated_at", "expires_at"];
  if (tagsFit(payload["tags"])) held.push("tags");
  const hold = (field: string, key: string, value: string, hidden = false): void => {
    held.push(field);
    strings.push({ key, value, hidden });
  };
  if (type === "passkey")
    for (const [key, field] of passkeyKeys) {
      const value = payload[field];
      if (value === undefined) continue;
      hold(field, key, field === "private_key" ? keyToPem(value) : value, field !== "rp_id" && field !== "username");
    }
  for (const [key, field] of standardKeys)
    if (!held.includes(field)) hold(field, key, payload[field] ?? "", field === "password");
  for (const [index, { key, uri }] of urisOf(payload).entries())
    hold(key, index === 0 ? "URL" : index === 1 ? "KP2A_URL" : `KP2A_URL_${index - 1}`, uri);
  if (payload["totp_secret"] !== undefined)
    for (const [key, value] of writeTotp(payload["totp_secret"])) hold("totp_secret", key, value, true);
  if (saysType(record, readAs(payload))) strings.push({ key: typeMarker, value: type });
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

/** KeePass parts tags by semicolons and commas, and takes the white space around each away. */
function tagsFit(tags: string | undefined): boolean {
  if (tags === undefined || /[;,\r]/.test(tags) || !fitsXml(tags)) return false;
  return tags.split("\n").every((tag) => tag !== "" && tag === tag.trim());
}
