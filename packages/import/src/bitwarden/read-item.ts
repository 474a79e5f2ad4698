import { type Draft, newDraft } from "../draft.ts";
import type { Include } from "../include.ts";
import { asObject, asObjects, asText, isObject, type Loose, otherMembers, strayTexts } from "../loose.ts";
import { credentialIdFrom } from "../passkey-key.ts";
import type { PlainRecord } from "../record.ts";
import type { LeftOutKind, Reading } from "../report.ts";
import {
  cardFields,
  customTypes,
  type FieldNames,
  identityFields,
  itemTypes,
  linkedFields,
  passkeyFields,
  sshKeyFields,
  uriMatches,
} from "./item-fields.ts";
import { joinNested } from "./nested-name.ts";

export interface ItemContext {
  folders: ReadonlyMap<string, string>;
  collections: ReadonlyMap<string, string>;
  include: Include;
  reading: Reading;
  /** From 1. */
  position: number;
}

/** Members that belong to the account, or that are read by name. */
const ofEachItem = [
  ...["id", "organizationId", "collectionIds", "folderId", "object", "key", "edit", "viewPassword", "permissions"],
  ...["organizationUseTotp", "localData", "creationDate", "revisionDate", "deletedDate", "archivedDate"],
  ...["type", "name", "notes", "favorite", "reprompt", "fields", "passwordHistory", "attachments"],
];
const ofEachLogin = ["username", "password", "totp", "uri", "uris", "fido2Credentials"];
/** The member of an item with the values of its type. */
const parts: ReadonlyMap<number, string> = new Map([
  [itemTypes.login, "login"],
  [itemTypes.secureNote, "secureNote"],
  [itemTypes.card, "card"],
  [itemTypes.identity, "identity"],
  [itemTypes.sshKey, "sshKey"],
]);

type LeaveOut = (kind: LeftOutKind, reason: string) => void;

/** One item of Bitwarden's JSON: a record, and one for each passkey. */
export function readItem(item: Loose, context: ItemContext): void {
  const { reading, include, position } = context;
  const name = asText(item["name"]);
  const leaveOut: LeaveOut = (kind, reason) => {
    reading.leftOut.push({ kind, item: name === "" ? `item ${position}` : name, reason });
  };
  if (asText(item["deletedDate"]) !== "" && !include.deleted) {
    leaveOut("item", "it is in the bin");
    return;
  }
  const archived = asText(item["archivedDate"]) !== "";
  if (archived && !include.archived) {
    leaveOut("item", "it is archived");
    return;
  }
  reportTheRest(item, context, leaveOut);

  const common = (draft: Draft): void => {
    const path = foldersOf(item, context);
    draft.set("folder", path[0] ?? "");
    if (path.length > 1) draft.set("collections", path.join("\n"));
    if (item["favorite"] === true) draft.set("favorite", "true");
    if (archived) draft.set("archived", "true");
    draft.set("original_created_at", asText(item["creationDate"]));
    draft.set("original_updated_at", asText(item["revisionDate"]));
  };
  const type = typeOf(item);
  const draft = draftOf(type, item, name);
  draft.set("notes", asText(item["notes"]));
  if (["1", "true"].includes(asText(item["reprompt"]))) draft.set("reprompt", "true");
  for (const field of asObjects(item["fields"])) readCustomField(draft, field);
  for (const text of strayTexts(item["fields"])) draft.custom("fields", text);
  readOtherParts(draft, item, type === itemTypes.secureNote ? "" : (parts.get(type) ?? ""));
  const passkeys = readPasskeys(item, name, common);
  const more = draft.holdsMoreThan(["name"]);
  common(draft);
  const record = draft.finish();
  const [first, ...others] = passkeys;
  // A login that was made only for a passkey is that passkey.
  if (first === undefined || (more && record.type !== "passkey")) reading.records.push(record, ...passkeys);
  else reading.records.push({ type: "passkey", payload: { ...first.payload, ...record.payload } }, ...others);
}

function reportTheRest(item: Loose, { folders, collections }: ItemContext, leaveOut: LeaveOut): void {
  const history = asObjects(item["passwordHistory"]).length;
  if (history > 0) leaveOut("history", `earlier passwords: ${history}`);
  for (const attachment of asObjects(item["attachments"]))
    leaveOut("attachment", `the attached file "${asText(attachment["fileName"])}"`);
  const folder = asText(item["folderId"]);
  if (folder !== "" && !folders.has(folder)) leaveOut("field", "its folder, which the file does not name");
  const without = collectionIdsOf(item).filter((id) => !collections.has(id)).length;
  if (without > 0) leaveOut("field", `collections that the file does not name: ${without}`);
}

/** The type of an item. For items of other programs without one, the type of their member. */
function typeOf(item: Loose): number {
  const said = item["type"];
  if (said !== undefined && said !== null && said !== "") return Number(asText(said));
  const [type = Number.NaN] = [...parts].find(([, part]) => isObject(item[part])) ?? [];
  return type;
}

function draftOf(type: number, item: Loose, name: string): Draft {
  switch (type) {
    case itemTypes.login:
      return loginDraft(asObject(item["login"]), name);
    case itemTypes.secureNote:
      return newDraft("secure_note", name);
    case itemTypes.card:
      return namedDraft("card", name, asObject(item["card"]), cardFields);
    case itemTypes.identity:
      return namedDraft("identity", name, asObject(item["identity"]), identityFields);
    case itemTypes.sshKey:
      return namedDraft("ssh_key", name, asObject(item["sshKey"]), sshKeyFields);
    default:
      return unknownDraft(item, name);
  }
}

function loginDraft(login: Loose, name: string): Draft {
  const draft = newDraft("login", name);
  draft.set("username", asText(login["username"]));
  draft.set("password", asText(login["password"]));
  draft.set("totp_secret", asText(login["totp"]));
  for (const entry of asObjects(login["uris"])) {
    const rule = uriMatches.find(([number]) => number === entry["match"]);
    draft.addUri(asText(entry["uri"]), { match: rule?.[1] ?? asText(entry["match"]) });
    // The checksum is derived from the address.
    for (const [key, text] of otherMembers(entry, ["uri", "match", "uriChecksum"])) draft.custom(`uri ${key}`, text);
  }
  for (const text of [...strayTexts(login["uris"]), asText(login["uri"])]) draft.addUri(text);
  for (const [key, text] of otherMembers(login, ofEachLogin)) draft.custom(key, text);
  return draft;
}

function namedDraft(type: string, name: string, values: Loose, fields: FieldNames): Draft {
  const draft = newDraft(type, name);
  for (const [theirs, ours] of fields) draft.set(ours, asText(values[theirs]));
  for (const [key, value] of Object.entries(values))
    if (!fields.some(([theirs]) => theirs === key) && asText(value) !== "") draft.custom(key, asText(value));
  return draft;
}

/**
 * An unknown or missing type, such as bank accounts: a note with all members of the item, by their
 * names.
 */
function unknownDraft(item: Loose, name: string): Draft {
  const draft = newDraft("secure_note", name);
  for (const [key, value] of Object.entries(item))
    if (isObject(value) && !ofEachItem.includes(key) && !draft.has("kind")) draft.set("kind", key);
  const type = asText(item["type"]);
  if (type !== "" && !draft.has("kind")) draft.set("kind", `bitwarden ${type}`);
  return draft;
}

/** The item's members that do not belong to its type. */
function readOtherParts(draft: Draft, item: Loose, own: string): void {
  const kind = draft.get("kind") ?? "";
  for (const [key, text] of otherMembers(item, [...ofEachItem, own])) {
    const value = item[key];
    if (!isObject(value)) draft.custom(key, text);
    else
      for (const [field, inner] of otherMembers(
        value,
        key === "secureNote" ? ["type"] : key === "login" ? ["fido2Credentials"] : [],
      ))
        draft.custom(key === kind ? field : `${key}: ${field}`, inner);
  }
}

function readCustomField(draft: Draft, field: Loose): void {
  const name = asText(field["name"]);
  const linked = linkedFields.find(([number]) => number === field["linkedId"])?.[1];
  if (field["type"] === customTypes.linked) draft.custom(name, linked ?? asText(field["linkedId"]), "linked");
  else if (field["type"] === customTypes.hidden) draft.custom(name, asText(field["value"]), "hidden");
  else if (field["type"] === customTypes.boolean) draft.custom(name, asText(field["value"]), "boolean");
  else draft.custom(name, asText(field["value"]));
  for (const [key, text] of otherMembers(field, ["name", "value", "type", "linkedId"]))
    draft.custom(`${name} ${key}`, text);
}

/** The folder; for an organization's item its collections. Slashes in both names nest. */
function foldersOf(item: Loose, { folders, collections }: ItemContext): string[] {
  const paths = [folders.get(asText(item["folderId"])), ...collectionIdsOf(item).map((id) => collections.get(id))];
  return paths.filter((path) => path !== undefined && path !== "").map((path) => joinNested(path ?? ""));
}

function collectionIdsOf(item: Loose): string[] {
  const ids: unknown = item["collectionIds"];
  return (Array.isArray(ids) ? ids : []).map(asText);
}

/** The passkeys of a login, one record each; `common` adds the shared fields. */
function readPasskeys(item: Loose, name: string, common: (draft: Draft) => void): PlainRecord[] {
  return asObjects(asObject(item["login"])["fido2Credentials"]).map((credential) => {
    const draft = newDraft("passkey", name);
    for (const [theirs, ours] of passkeyFields) {
      const value = asText(credential[theirs]);
      draft.set(ours, ours === "credential_id" ? credentialIdFrom(value) : value);
    }
    for (const [key, value] of Object.entries(credential))
      if (!passkeyFields.some(([theirs]) => theirs === key) && asText(value) !== "") draft.custom(key, asText(value));
    common(draft);
    return draft.finish();
  });
}
