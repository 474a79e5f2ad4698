import type { RecordPayload } from "@coffer/crypto";
import { typeMarker } from "../draft.ts";
import { type ExtraField, extraFields, saysType, withoutKeys } from "../extra-fields.ts";
import type { ExportRecord } from "../export-record.ts";
import { urisOf } from "../record.ts";
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
import { credentialIdFor } from "../passkey-key.ts";
import { nestedName, whyNotAsFolder } from "./nested-name.ts";
import { switchedOn } from "./switched-on.ts";

/** The fields that every item can hold. */
const everywhere = ["name", "notes", "folder", "original_created_at", "original_updated_at"];

/**
 * Writes Bitwarden's unencrypted JSON for a person. A type or field without an equivalent becomes a
 * custom field with the prefix `coffer.`, which the reader recognizes.
 */
export function writeBitwardenJson(records: readonly ExportRecord[]): string {
  const folders = new Map<string, string>();
  const items = records.map((record) => {
    const folder = record.payload["folder"] ?? "";
    if (folder !== "" && !folders.has(folder)) folders.set(folder, folderId(folders.size));
    return itemOf(record, folders.get(folder) ?? null);
  });
  const list = [...folders].map(([path, id]) => ({ id, name: nestedName(path) }));
  return `${JSON.stringify({ encrypted: false, folders: list, items }, null, 2)}\n`;
}

/** Why Bitwarden's JSON cannot hold a value. */
export function whyNotInBitwardenJson(field: string, value: string): string | undefined {
  return field === "folder" ? whyNotAsFolder(value) : undefined;
}

/** In such a file ids only link items to folders. */
function folderId(index: number): string {
  return `00000000-0000-4000-8000-${(index + 1).toString(16).padStart(12, "0")}`;
}

function itemOf(record: ExportRecord, folder: string | null): object {
  const { payload } = record;
  const { held, type, details } = shapeOf(record);
  const fields = extraFields(withoutKeys(payload, [...everywhere, ...switchedOn(payload), ...held]));
  // A login with only a passkey is read as that passkey; other fields would make it a login too.
  const isPasskey = record.type === "passkey" && type === itemTypes.login;
  const readAs =
    isPasskey && fields.length === 0 && payload["notes"] === undefined ? "passkey" : (typeNames[type] ?? "");
  const ownType = saysType(record, readAs) ? [ownTypeField(record.type)] : [];
  return {
    passwordHistory: null,
    ...(payload["original_updated_at"] === undefined ? {} : { revisionDate: payload["original_updated_at"] }),
    ...(payload["original_created_at"] === undefined ? {} : { creationDate: payload["original_created_at"] }),
    deletedDate: null,
    id: record.id,
    organizationId: null,
    folderId: folder,
    type,
    reprompt: payload["reprompt"] === "true" ? 1 : 0,
    name: payload["name"] ?? "",
    notes: payload["notes"] ?? null,
    favorite: payload["favorite"] === "true",
    fields: [...ownType, ...fields.map((field) => customField(field, type))],
    ...details,
    collectionIds: null,
  };
}

const typeNames: Record<number, string> = { 1: "login", 2: "secure_note", 3: "card", 4: "identity", 5: "ssh_key" };

/** The item type of a record, its member for that type, and the fields in it. */
function shapeOf({ type, payload }: ExportRecord): { type: number; held: string[]; details: object } {
  const named = (fields: FieldNames): object =>
    Object.fromEntries(fields.map(([theirs, ours]) => [theirs, payload[ours] ?? null]));
  const keys = (fields: FieldNames): string[] => fields.map(([, ours]) => ours);
  const uris = urisOf(payload);
  switch (type) {
    case "login":
      return {
        type: itemTypes.login,
        held: ["username", "password", "totp_secret", ...uris.flatMap(heldUriKeys)],
        details: {
          login: {
            uris: uris.map(({ uri, match }) => ({ match: matchNumber(match), uri })),
            username: payload["username"] ?? null,
            password: payload["password"] ?? null,
            totp: payload["totp_secret"] ?? null,
            fido2Credentials: [],
          },
        },
      };
    case "passkey":
      if (!holdsAll(payload, neededOfPasskey)) return noteShape;
      return {
        type: itemTypes.login,
        held: keys(passkeyFields),
        details: {
          login: {
            uris: [],
            username: null,
            password: null,
            totp: null,
            fido2Credentials: [
              { ...named(passkeyFields), credentialId: credentialIdFor(payload["credential_id"] ?? "") },
            ],
          },
        },
      };
    case "card":
      return { type: itemTypes.card, held: keys(cardFields), details: { card: named(cardFields) } };
    case "identity":
      return { type: itemTypes.identity, held: keys(identityFields), details: { identity: named(identityFields) } };
    case "ssh_key":
      if (!holdsAll(payload, keys(sshKeyFields))) return noteShape;
      return { type: itemTypes.sshKey, held: keys(sshKeyFields), details: { sshKey: named(sshKeyFields) } };
    default:
      return noteShape;
  }
}

/**
 * The required fields of a passkey; an SSH key needs all of its fields. Bitwarden refuses a whole
 * file if one is missing, and a counter that is no number. Such a record becomes a note with
 * fields.
 */
const neededOfPasskey = ["credential_id", "key_type", "key_algorithm", "key_curve", "private_key", "rp_id", "counter"];

function holdsAll(payload: RecordPayload, fields: readonly string[]): boolean {
  return fields.every((field) => (payload[field] ?? "").trim() !== "");
}

const noteShape = { type: itemTypes.secureNote, held: [], details: { secureNote: { type: 0 } } };

function heldUriKeys({ key, match }: { key: string; match: string | undefined }): string[] {
  return matchNumber(match) === null ? [key] : [key, `${key}_match`];
}

function matchNumber(match: string | undefined): number | null {
  return uriMatches.find(([, word]) => word === match)?.[0] ?? null;
}

function customField({ label, value, kind }: ExtraField, type: number): object {
  if (kind !== "linked") return { name: label, value, type: customTypes[kind], linkedId: null };
  const ofThisType = (number: number): boolean => number >= 400 === (type === itemTypes.identity);
  const linkedId = linkedFields.find(([number, name]) => name === value && ofThisType(number))?.[0];
  return { name: label, value: null, type: customTypes.linked, linkedId: linkedId ?? null };
}

function ownTypeField(type: string): object {
  return { name: typeMarker, value: type, type: customTypes.text, linkedId: null };
}
