import { asObject, asText, otherMembers } from "../loose.ts";
import type { FieldKind } from "../record.ts";

/** A field's value, by its 1Password kind. */
export type FieldValue =
  | { is: "text"; text: string; kind: FieldKind }
  | { is: "totp"; text: string }
  | { is: "expiry"; month: string; year: string }
  | { is: "address"; parts: Readonly<Record<string, string>> }
  | { is: "ssh_key"; parts: Readonly<Record<string, string>> }
  | { is: "file"; name: string }
  | { is: "reference" };

/**
 * Reads a field's `value`: an object with one member, whose name is the kind. An unknown kind is
 * preserved as text, or as JSON.
 */
export function fieldValue(value: unknown): FieldValue {
  const [[is, content] = ["string", value]] = Object.entries(asObject(value));
  switch (is) {
    case "totp":
      return { is, text: asText(content) };
    case "concealed":
      return { is: "text", text: asText(content), kind: "hidden" };
    case "email":
      return text(asText(asObject(content)["email_address"] ?? content));
    case "date":
      return text(typeof content === "number" ? dateOf(content) : asText(content));
    case "monthYear":
      return monthYear(content);
    case "address":
      return { is, parts: addressParts(content) };
    case "sshKey":
      return { is: "ssh_key", parts: sshParts(content) };
    case "file":
      return { is, name: asText(asObject(content)["fileName"]) };
    case "reference":
      return asText(content) === "" ? text("") : { is };
    default:
      return text(asText(content));
  }
}

/**
 * The content of a value that `fieldValue` does not read: other members, and other parts of an
 * address or a key.
 */
export function otherValues(value: unknown): [name: string, text: string][] {
  const [first, ...others] = Object.entries(asObject(value));
  if (first === undefined) return [];
  const [is, content] = first;
  const parts = asObject(content);
  const known: Readonly<Record<string, readonly string[]>> = {
    email: "email_address" in parts ? ["email_address"] : Object.keys(parts),
    address: addressNames.map(([theirs]) => theirs),
    // The key itself is included twice, in two forms.
    sshKey: ["privateKey", "metadata"],
    file: ["fileName", "documentId", "decryptedSize"],
  };
  const ofThis = Object.hasOwn(known, is) ? known[is] : undefined;
  return [
    ...(ofThis === undefined ? [] : otherMembers(parts, ofThis)),
    ...(is === "sshKey"
      ? otherMembers(asObject(parts["metadata"]), ["privateKey", "publicKey", "fingerprint", "keyType"])
      : []),
    ...otherMembers(Object.fromEntries(others), []),
  ];
}

const addressNames = [
  ["street", "address_1"],
  ["city", "city"],
  ["state", "state"],
  ["zip", "postal_code"],
  ["country", "country"],
] as const;

function text(value: string): FieldValue {
  return { is: "text", text: value, kind: "text" };
}

/** 1Password stores a day as the second in its middle, UTC. */
function dateOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, 10);
}

/** 202903 is March 2029. */
function monthYear(content: unknown): FieldValue {
  const [, year, month] = /^(\d{4})(\d{2})$/.exec(asText(content)) ?? [];
  if (year === undefined || month === undefined) return text(asText(content) === "0" ? "" : asText(content));
  return { is: "expiry", month: String(Number(month)), year };
}

function addressParts(content: unknown): Record<string, string> {
  const address = asObject(content);
  return Object.fromEntries(addressNames.map(([theirs, ours]) => [ours, asText(address[theirs])]));
}

function sshParts(content: unknown): Record<string, string> {
  const key = asObject(content);
  const metadata = asObject(key["metadata"]);
  return {
    private_key: asText(metadata["privateKey"] ?? key["privateKey"]),
    public_key: asText(metadata["publicKey"]),
    fingerprint: asText(metadata["fingerprint"]),
    key_type: asText(metadata["keyType"]),
  };
}
