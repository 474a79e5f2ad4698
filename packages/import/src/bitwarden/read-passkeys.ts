import { newDraft } from "../draft.ts";
import type { Draft } from "../draft.ts";
import { asObject, asObjects, asText } from "../loose.ts";
import type { Loose } from "../loose.ts";
import type { PlainRecord } from "../record.ts";
import { credentialIdFrom } from "../passkey-key.ts";
import { passkeyFields } from "./item-fields.ts";

/** The passkeys of a login, a record each; `common` adds what they share with it. */
export function readPasskeys(item: Loose, name: string, common: (draft: Draft) => void): PlainRecord[] {
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
