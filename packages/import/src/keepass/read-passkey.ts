import { type Draft, newDraft, ownPrefix } from "../draft.ts";
import { keyFromPem, kindOfKey } from "../passkey-key.ts";
import { isOfPasskey, olderPasskeyKeys, passkeyKeys } from "./string-keys.ts";
import type { Strings } from "./totp-strings.ts";

/** KeePassXC has no counter, and finds its passkeys only by the site. */
const ofEach = { counter: "0", discoverable: "true" };

/**
 * The passkey in an entry's strings; undefined when no string with a value belongs to one. It may
 * be incomplete: everything, above all the private key, is preserved. KeePassXC's implicit values
 * are added, because other programs require them; not in a file of ours (`ours`), which has all
 * values.
 */
export function readPasskey(
  strings: Strings,
  hidden: ReadonlySet<string>,
  { name, ours }: { name: string; ours: boolean },
): Draft | undefined {
  const draft = newDraft("passkey", name);
  for (const [key, field] of [...olderPasskeyKeys, ...passkeyKeys]) {
    const value = strings.get(key) ?? "";
    draft.set(field, field === "private_key" ? keyFromPem(value) : value);
  }
  if (!draft.holdsMoreThan(["name"])) return undefined;
  const kind = ours ? undefined : kindOfKey(keyFromPem(strings.get("KPEX_PASSKEY_PRIVATE_KEY_PEM") ?? ""));
  for (const [field, value] of Object.entries(kind === undefined ? {} : { ...kind, ...ofEach }))
    // A record of ours may have passed through another program.
    if (!strings.has(ownPrefix + field)) draft.set(field, value);
  for (const [key, value] of strings)
    if (isOfPasskey(key) && !passkeyKeys.has(key) && !olderPasskeyKeys.has(key))
      draft.custom(key, value, hidden.has(key) ? "hidden" : "text");
  return draft;
}
