import { decodeBase64 } from "@coffer/crypto";
import type { Strings } from "./totp-strings.ts";

/** The value that a reference names; undefined for a value that is none, or that names nothing. */
export type LookUp = (value: string) => string | undefined;

const fields: Readonly<Record<string, string>> = { T: "Title", U: "UserName", P: "Password", A: "URL", N: "Notes" };

/**
 * How values are found that stand in another entry: `{REF:P@I:<its UUID in hex>}` is its password. Only a value that is
 * one reference and nothing else is looked up, and what it names is taken as it is, so that no chain blows up.
 */
export function referencesIn(entries: readonly (readonly [uuid: string, strings: Strings])[]): LookUp {
  const byId = new Map(entries.map(([uuid, strings]) => [hexOf(uuid), strings]));
  return (value) => {
    const [, field = "", id = ""] = /^\{REF:([TUPAN])@I:([\dA-F]{32})\}$/i.exec(value) ?? [];
    return byId.get(id.toUpperCase())?.get(fields[field.toUpperCase()] ?? "");
  };
}

/** Whether there is a reference somewhere in the value, of which KeePass shows what it names. */
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
