import type { RecordPayload } from "@coffer/crypto";
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

/** The names of our fields that programs should hide. */
const covered = /password|secret|private_key|passphrase|code|number|pin$|ssn|credential/;

/**
 * One record as an entry. Fields without an equivalent become strings named `coffer.…`, which the
 * reader recognizes.
 */
export function entryXml(record: ExportRecord): string {
  const { payload } = record;
  const strings = stringsOf(record).filter(({ key, value }) => fitsXml(key + value));
  const times = timesIn(payload);
  const expires = times.some(({ field }) => field === "expires_at") ? "True" : "False";
  return element(
    "Entry",
    [
      textElement("UUID", uuidBase64(record.id)),
      ...(tagsFit(payload["tags"]) ? [textElement("Tags", (payload["tags"] ?? "").replaceAll("\n", ";"))] : []),
      element(
        "Times",
        times.map(({ name, time }) => textElement(name, time)).join("") + textElement("Expires", expires),
      ),
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
  const held = ["folder", ...timesIn(payload).map(({ field }) => field)];
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
    // A custom field must not have a name with a meaning.
    const key = isReserved(label) ? `${ownPrefix}custom.${label}` : label;
    strings.push({ key, value, hidden: own ? covered.test(label) : kind === "hidden" });
    if (kind === "boolean" || kind === "linked" || (kind === "hidden" && key !== label))
      strings.push({ key: `${ownPrefix}custom_type.${label}`, value: kind });
  }
  return strings;
}

/** The fields of KeePass's times, with its names. A malformed time is stored elsewhere. */
function timesIn(payload: RecordPayload): { name: string; field: string; time: string }[] {
  return timeFields
    .map(([name, field]) => ({ name, field, time: payload[field] ?? "" }))
    .filter(({ time }) => isTime(time));
}

const timeFields = [
  ["CreationTime", "original_created_at"],
  ["LastModificationTime", "original_updated_at"],
  ["ExpiryTime", "expires_at"],
] as const;

/** ISO 8601 with a time zone, as the format requires. */
function isTime(text: string): boolean {
  const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
  return pattern.test(text) && !Number.isNaN(Date.parse(text));
}

/** The type that the reader would assume for such an entry. */
function readAs(payload: Record<string, string>): string {
  return ["username", "password", "totp_secret"].some((key) => payload[key]) || urisOf(payload).length > 0
    ? "login"
    : "secure_note";
}

/** KeePass separates tags by semicolons and commas, and trims them. */
function tagsFit(tags: string | undefined): boolean {
  if (tags === undefined || /[;,\r]/.test(tags) || !fitsXml(tags)) return false;
  return tags.split("\n").every((tag) => tag !== "" && tag === tag.trim());
}
