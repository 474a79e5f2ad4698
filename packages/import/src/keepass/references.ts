import { decodeBase64 } from "@coffer/crypto";
import type { Strings } from "./totp-strings.ts";

/** The value of a reference; undefined for other values and for a missing target. */
export type LookUp = (value: string) => string | undefined;

const fields: Readonly<Record<string, string>> = { T: "Title", U: "UserName", P: "Password", A: "URL", N: "Notes" };

/**
 * Resolves values in other entries: `{REF:P@I:<its UUID in hex>}` is a password. Only a value that
 * is exactly one reference is resolved, and the result is not resolved again, so that no chain
 * grows.
 */
export function referencesIn(entries: readonly (readonly [uuid: string, strings: Strings])[]): LookUp {
  const byId = new Map(entries.map(([uuid, strings]) => [hexOf(uuid), strings]));
  return (value) => {
    const [, field = "", id = ""] = /^\{REF:([TUPAN])@I:([\dA-F]{32})\}$/i.exec(value) ?? [];
    return byId.get(id.toUpperCase())?.get(fields[field.toUpperCase()] ?? "");
  };
}

/** Whether the value contains a reference, which KeePass would resolve. */
export function holdsReference(value: string): boolean {
  return /\{REF:/i.test(value);
}

/** A UUID as base64, in hex. */
function hexOf(uuid: string): string {
  try {
    return Array.from(decodeBase64(uuid), (byte) => byte.toString(16).padStart(2, "0"))
      .join("")
      .toUpperCase();
  } catch {
    return "";
  }
}
