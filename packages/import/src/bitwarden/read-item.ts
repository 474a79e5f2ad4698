import { newDraft } from "../draft.ts";
import type { Draft } from "../draft.ts";
import type { Include } from "../include.ts";
import { asObject, asObjects, asText, isObject } from "../loose.ts";
import type { Loose } from "../loose.ts";
import type { Reading } from "../report.ts";
import {
  cardFields,
  customTypes,
  identityFields,
  itemTypes,
  linkedFields,
  sshKeyFields,
  uriMatches,
} from "./item-fields.ts";
import type { FieldNames } from "./item-fields.ts";
import { joinNested } from "./nested-name.ts";
import { readPasskeys } from "./read-passkeys.ts";

export interface ItemContext {
  folders: ReadonlyMap<string, string>;
  collections: ReadonlyMap<string, string>;
  include: Include;
  reading: Reading;
  /** From 1. */
  position: number;
}

/** What each item has for the account it lives in, and nobody's data. */
const ofTheAccount = [
  ...["id", "organizationId", "collectionIds", "folderId", "object", "key", "edit", "viewPassword", "permissions"],
  ...["organizationUseTotp", "localData", "creationDate", "revisionDate", "deletedDate", "archivedDate"],
  ...["type", "name", "notes", "favorite", "reprompt", "fields", "passwordHistory", "attachments"],
];
const details = ["login", "secureNote", "card", "identity", "sshKey"];

/** One item of Bitwarden's JSON: a record, and one for each passkey. */
export function readItem(item: Loose, context: ItemContext): void {
  const { reading, include, position } = context;
  const name = asText(item["name"]);
  const leaveOut = (kind: "item" | "attachment" | "history" | "field", reason: string): void => {
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
  const history = asObjects(item["passwordHistory"]).length;
  if (history > 0) leaveOut("history", `earlier passwords: ${history}`);
  for (const attachment of asObjects(item["attachments"]))
    leaveOut("attachment", `the attached file "${asText(attachment["fileName"])}"`);

  const common = (draft: Draft): void => {
    const path = foldersOf(item, context);
    draft.set("folder", path[0] ?? "");
    if (path.length > 1) draft.set("collections", path.join("\n"));
    if (item["favorite"] === true) draft.set("favorite", "true");
    if (archived) draft.set("archived", "true");
    draft.set("original_created_at", asText(item["creationDate"]));
    draft.set("original_updated_at", asText(item["revisionDate"]));
  };
  const draft = draftOf(item, name);
  draft.set("notes", asText(item["notes"]));
  if (asText(item["reprompt"]) === "1") draft.set("reprompt", "true");
  for (const field of asObjects(item["fields"])) readCustomField(draft, field);
  const passkeys = readPasskeys(item, name, common);
  const more = draft.holdsMoreThan(["name"]);
  common(draft);
  const record = draft.finish();
  const [first, ...others] = passkeys;
  // A login that was made for a passkey alone is that passkey.
  if (first === undefined || (more && record.type !== "passkey")) reading.records.push(record, ...passkeys);
  else reading.records.push({ type: "passkey", payload: { ...first.payload, ...record.payload } }, ...others);
  for (const [key, value] of Object.entries(item))
    if (![...ofTheAccount, ...details].includes(key) && !isObject(value) && asText(value) !== "")
      leaveOut("field", `"${key}", which is not known`);
}

function draftOf(item: Loose, name: string): Draft {
  switch (item["type"]) {
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
  }
  return draft;
}

function namedDraft(type: string, name: string, values: Loose, fields: FieldNames): Draft {
  const draft = newDraft(type, name);
  for (const [theirs, ours] of fields) draft.set(ours, asText(values[theirs]));
  for (const [key, value] of Object.entries(values))
    if (!fields.some(([theirs]) => theirs === key) && asText(value) !== "") draft.custom(key, asText(value));
  return draft;
}

/** A kind that came later, as bank accounts did: a note with all that the kind has, by its names. */
function unknownDraft(item: Loose, name: string): Draft {
  const draft = newDraft("secure_note", name);
  for (const [key, value] of Object.entries(item))
    if (isObject(value) && !ofTheAccount.includes(key)) {
      draft.set("kind", key);
      for (const [field, text] of Object.entries(value)) if (asText(text) !== "") draft.custom(field, asText(text));
    }
  if (!draft.has("kind")) draft.set("kind", `bitwarden ${asText(item["type"])}`);
  return draft;
}

function readCustomField(draft: Draft, field: Loose): void {
  const name = asText(field["name"]);
  const linked = linkedFields.find(([number]) => number === field["linkedId"])?.[1];
  if (field["type"] === customTypes.linked) draft.custom(name, linked ?? asText(field["linkedId"]), "linked");
  else if (field["type"] === customTypes.hidden) draft.custom(name, asText(field["value"]), "hidden");
  else if (field["type"] === customTypes.boolean) draft.custom(name, asText(field["value"]), "boolean");
  else draft.custom(name, asText(field["value"]));
}

/** The folder, or for an organization's item its collections. Both are nested by slashes in their names. */
function foldersOf(item: Loose, { folders, collections }: ItemContext): string[] {
  const ids: unknown = item["collectionIds"];
  const paths = [
    folders.get(asText(item["folderId"])),
    ...(Array.isArray(ids) ? ids : []).map((id) => collections.get(asText(id))),
  ];
  return paths.filter((path) => path !== undefined && path !== "").map((path) => joinNested(path ?? ""));
}
