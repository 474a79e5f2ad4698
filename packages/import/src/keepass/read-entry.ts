import { decodeBase64 } from "@coffer/crypto";
import type { XmlElement } from "@rgrove/parse-xml";
import { type Draft, newDraft } from "../draft.ts";
import { ImportError } from "../import-error.ts";
import type { Reading } from "../report.ts";
import { childOf, childrenOf, elementsOf, textOf } from "../xml/read-xml.ts";
import { readPasskey } from "./read-passkey.ts";
import { holdsReference, type LookUp } from "./references.ts";
import { isOfPasskey, moreUrls, standardKeys, urlsOf } from "./string-keys.ts";
import { readTotp } from "./totp-strings.ts";

export interface EntryContext {
  folder: string;
  /** Undefined for a file without references. */
  lookUp: LookUp | undefined;
  reading: Reading;
}

/** The strings of an entry, and which of them are hidden. Throws ImportError `encrypted`. */
export function stringsOf(entry: XmlElement): { values: Map<string, string>; hidden: Set<string> } {
  const values = new Map<string, string>();
  const hidden = new Set<string>();
  for (const string of childrenOf(entry, "String")) {
    const value = childOf(string, "Value");
    if (value?.attributes["Protected"]?.toLowerCase() === "true")
      throw new ImportError(
        "encrypted",
        "this is the inside of a KeePass database, in which values are encrypted: export it as XML (2.x) from KeePass",
      );
    const key = freeKey(values, textOf(string, "Key"));
    values.set(key, value?.text ?? "");
    if (value?.attributes["ProtectInMemory"]?.toLowerCase() === "true") hidden.add(key);
  }
  return { values, hidden };
}

/** The key of a string. A duplicate, which KeePass does not write, gets a number. */
function freeKey(values: ReadonlyMap<string, string>, key: string): string {
  let free = key;
  for (let number = 2; values.has(free); number++) free = `${key} (${number})`;
  return free;
}

/** Reads one entry: a record, and another one for its passkey. */
export function readEntry(entry: XmlElement, { folder, lookUp, reading }: EntryContext): void {
  const { values, hidden } = stringsOf(entry);
  const name = values.get("Title") ?? "";
  const leaveOut = (kind: "attachment" | "history" | "field" | "setting", reason: string): void => {
    reading.leftOut.push({ kind, item: name, reason });
  };
  for (const [key, value] of lookUp === undefined ? [] : values) {
    const found = lookUp?.(value);
    if (found !== undefined) values.set(key, found);
    else if (holdsReference(value)) leaveOut("field", `"${key}" refers to another entry, and is imported unchanged`);
  }

  const totp = readTotp(values);
  const usual = ["UserName", "Password", "URL"].some((key) => (values.get(key) ?? "") !== "");
  const draft = newDraft(usual || totp !== undefined ? "login" : "secure_note", name);
  const passkey = readPasskey(values, hidden, { name, ours: lookUp === undefined });
  for (const url of urlsOf(values)) draft.addUri(url);
  for (const [key, value] of values) {
    const standard = standardKeys.get(key);
    if (standard !== undefined) draft.set(standard, value);
    else if (key === "URL" || moreUrls.test(key)) continue;
    else if (isOfPasskey(key)) {
      // Without a passkey the value is still a secret.
      if (passkey === undefined && value !== "") draft.custom(key, value, "hidden");
    } else if (totp?.used.includes(key) !== true) draft.custom(key, value, hidden.has(key) ? "hidden" : "text");
  }
  draft.set("totp_secret", totp?.secret ?? "");
  const more = ["password", "notes", "totp_secret"].some((key) => draft.has(key));
  for (const each of [draft, passkey]) if (each !== undefined) addCommon(each, entry, folder);
  const [record, passkeyRecord] = [draft.finish(), passkey?.finish()];
  if (passkeyRecord === undefined) reading.records.push(record);
  else if (more && record.type !== "passkey") reading.records.push(record, passkeyRecord);
  else reading.records.push({ type: "passkey", payload: { ...record.payload, ...passkeyRecord.payload } });
  reportTheRest(entry, leaveOut);
}

function addCommon(draft: Draft, entry: XmlElement, folder: string): void {
  const times = childOf(entry, "Times");
  draft.set("folder", folder);
  const tags = textOf(entry, "Tags")
    .split(/[;,]/)
    .map((tag) => tag.trim());
  draft.set("tags", tags.filter((tag) => tag !== "").join("\n"));
  if (textOf(entry, "OverrideURL") !== "") draft.custom("OverrideURL", textOf(entry, "OverrideURL"));
  if (textOf(times, "Expires") === "True") draft.set("expires_at", readTime(textOf(times, "ExpiryTime")));
  draft.set("original_created_at", readTime(textOf(times, "CreationTime")));
  draft.set("original_updated_at", readTime(textOf(times, "LastModificationTime")));
}

/** Elements of an entry that are read, or that only concern its appearance. */
const ofEachEntry = [
  ...["UUID", "String", "Binary", "History", "AutoType", "CustomData", "Tags", "Times", "OverrideURL"],
  ...["IconID", "CustomIconUUID", "ForegroundColor", "BackgroundColor", "QualityCheck", "PreviousParentGroup"],
];

function reportTheRest(
  entry: XmlElement,
  leaveOut: (kind: "attachment" | "history" | "field" | "setting", reason: string) => void,
): void {
  const earlier = childrenOf(childOf(entry, "History"), "Entry").length;
  if (earlier > 0) leaveOut("history", `earlier versions: ${earlier}`);
  for (const binary of childrenOf(entry, "Binary"))
    leaveOut("attachment", `the attached file "${textOf(binary, "Key")}"`);
  const autoType = childOf(entry, "AutoType");
  if (textOf(autoType, "DefaultSequence") !== "" || childrenOf(autoType, "Association").length > 0)
    leaveOut("setting", "its auto-type");
  for (const item of childrenOf(childOf(entry, "CustomData"), "Item"))
    leaveOut("field", `the data of a plug-in under "${textOf(item, "Key")}"`);
  for (const { name, text } of elementsOf(entry))
    if (!ofEachEntry.includes(name) && text.trim() !== "") leaveOut("field", `the element ${name}, which is not known`);
}

/** From 0001-01-01 to 1970-01-01. */
const secondsBefore1970 = 62_135_596_800;

/**
 * A time of an entry as ISO 8601. KeePass writes that; KeePassXC writes the form of KDBX 4, the
 * seconds since the year 1 as 64 bits in base64. Any other text is returned unchanged.
 */
function readTime(text: string): string {
  if (!/^[\dA-Za-z+/]{10}[048AEIMQUYcgkosw]=$/.test(text)) return text;
  const bytes = decodeBase64(text);
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0, true);
  const moment = new Date((Number(seconds) - secondsBefore1970) * 1000);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString().replace(".000Z", "Z");
}
