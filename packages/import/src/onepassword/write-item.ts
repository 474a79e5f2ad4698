import type { RecordPayload } from "@coffer/crypto";
import { ownPrefix, typeMarker } from "../draft.ts";
import type { ExportRecord } from "../export-record.ts";
import { extraFields, saysType, withoutKeys } from "../extra-fields.ts";
import { joinFolder, splitFolder } from "../folder-path.ts";
import { urisOf } from "../record.ts";
import { categories } from "./categories.ts";

const codes: Readonly<Record<string, string>> = {
  login: "001",
  card: "002",
  identity: "004",
  database: "102",
  api_credential: "112",
  ssh_key: "114",
};
const note = "003";

/** The names of our fields that programs should hide. */
const covered = /password|secret|private_key|passphrase|code|number|pin$|ssn|credential/;

/**
 * One record as an item. Fields without an equivalent are named `coffer.…`, which the reader
 * recognizes.
 */
export function writeItem(record: ExportRecord): object {
  const { id, type, payload } = record;
  const code = codes[type] ?? note;
  const held = ["name", "notes", "tags"];
  const hold = (field: string): string => (held.push(field), payload[field] ?? "");
  if (payload["favorite"] === "true") held.push("favorite");
  if (payload["archived"] === "true") held.push("archived");
  const folder = payload["folder"] ?? "";
  // A field preserves the path of a nested folder.
  if (folder === joinFolder([splitFolder(folder).join("/")])) held.push("folder");
  const times = {
    createdAt: secondsIn(payload, "original_created_at"),
    updatedAt: secondsIn(payload, "original_updated_at"),
  };
  if (times.createdAt !== undefined) held.push("original_created_at");
  if (times.updatedAt !== undefined) held.push("original_updated_at");

  const loginFields: object[] = [];
  if (type === "login")
    for (const [designation, fieldType] of [
      ["username", "T"],
      ["password", "P"],
    ] as const)
      if (payload[designation] !== undefined)
        loginFields.push({ value: hold(designation), id: "", name: designation, fieldType, designation });
  const fields: object[] = [];
  for (const [theirs, ours] of Object.entries(categories.get(code)?.fields ?? {}))
    if (payload[ours] !== undefined) fields.push(field(theirs, ours, text(hold(ours), covered.test(ours))));
  if (
    type === "card" &&
    /^(?:[1-9]|1[0-2])$/.test(payload["exp_month"] ?? "") &&
    /^\d{4}$/.test(payload["exp_year"] ?? "")
  ) {
    const monthYear = Number(hold("exp_year")) * 100 + Number(hold("exp_month"));
    fields.push(field("expiry", "expiry date", { monthYear }));
  }
  if (type === "identity")
    fields.push(
      field("address", "address", {
        address: {
          street: hold("address_1"),
          city: hold("city"),
          state: hold("state"),
          zip: hold("postal_code"),
          country: hold("country"),
        },
      }),
    );
  if (type === "ssh_key") {
    const privateKey = hold("private_key");
    const metadata = {
      privateKey,
      publicKey: hold("public_key"),
      fingerprint: hold("fingerprint"),
      keyType: hold("key_type"),
    };
    fields.push(field("private_key", "private key", { sshKey: { privateKey, metadata } }));
  }
  if (payload["totp_secret"] !== undefined)
    fields.push(field("TOTP_coffer", "one-time password", { totp: hold("totp_secret") }));
  const urls = urisOf(payload).map(({ key, uri }) => {
    held.push(key);
    return { label: hold(`${key}_label`) || "website", url: uri, mode: "default" };
  });

  if (saysType(record, codes[type] === undefined ? "secure_note" : type))
    fields.push(field("", typeMarker, text(type)));
  for (const { label, value, kind } of extraFields(withoutKeys(payload, held))) {
    const own = label.startsWith(ownPrefix);
    fields.push(field("", label, text(value, own ? covered.test(label) : kind === "hidden")));
    if (kind === "boolean" || kind === "linked") fields.push(field("", `${ownPrefix}custom_type.${label}`, text(kind)));
  }
  const tags = (payload["tags"] ?? "").split("\n").filter((tag) => tag !== "");
  return {
    ...{ uuid: id, favIndex: payload["favorite"] === "true" ? 1 : 0, ...times },
    ...{ state: payload["archived"] === "true" ? "archived" : "active", categoryUuid: code },
    details: {
      loginFields,
      notesPlain: payload["notes"] ?? "",
      sections: fields.length === 0 ? [] : [{ title: "", name: "coffer", fields }],
      passwordHistory: [],
    },
    overview: { subtitle: "", urls, title: payload["name"] ?? "", url: urls[0]?.url ?? "", tags },
  };
}

function field(id: string, title: string, value: object): object {
  const inputTraits = { keyboard: "default", correction: "default", capitalization: "default" };
  return {
    title,
    id: id === "" ? title : id,
    value,
    guarded: false,
    multiline: false,
    dontGenerate: false,
    inputTraits,
  };
}

function text(value: string, hidden = false): object {
  return hidden ? { concealed: value } : { string: value };
}

/** 1Password stores whole seconds. Any other value is stored in a field. */
function secondsIn(payload: RecordPayload, field: string): number | undefined {
  const time = Date.parse(payload[field] ?? "");
  if (Number.isNaN(time) || time % 1000 !== 0) return undefined;
  return new Date(time).toISOString() === payload[field] ? time / 1000 : undefined;
}
