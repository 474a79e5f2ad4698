import { newDraft } from "../draft.ts";
import type { Draft } from "../draft.ts";
import { keyFromPem } from "../passkey-key.ts";
import { isOfPasskey, olderPasskeyKeys, passkeyKeys } from "./string-keys.ts";
import type { Strings } from "./totp-strings.ts";

/**
 * The passkey in an entry's strings; undefined where no string with a value belongs to one. It need not be whole: what
 * there is of it, above all its private key, is kept.
 */
export function readPasskey(strings: Strings, hidden: ReadonlySet<string>, name: string): Draft | undefined {
  const draft = newDraft("passkey", name);
  for (const [key, field] of [...olderPasskeyKeys, ...passkeyKeys]) {
    const value = strings.get(key) ?? "";
    draft.set(field, field === "private_key" ? keyFromPem(value) : value);
  }
  if (!draft.holdsMoreThan(["name"])) return undefined;
  for (const [key, value] of strings)
    if (isOfPasskey(key) && !passkeyKeys.has(key) && !olderPasskeyKeys.has(key))
      draft.custom(key, value, hidden.has(key) ? "hidden" : "text");
  return draft;
}
