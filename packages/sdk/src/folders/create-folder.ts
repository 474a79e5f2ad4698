import { box, contexts, decodeBase64, keyCheck, newId, newKey } from "@coffer/crypto";
import { sign } from "@coffer/history";
import { understoodHistory } from "../histories/history-failure.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { FolderView } from "../views.ts";

/** The key version of a new folder or vault. */
export const firstKeyVersion = 1;

/** A folder as the service lists it. */
export type FolderSummary = FolderView & { created_at: string; updated_at: string };

/**
 * Creates a folder under a client-made id, to which its new key is bound. Only the caller can open
 * that key. The history starts with the caller as the only manager.
 */
export async function createFolder(
  send: Send,
  session: PersonSession,
  trust: PersonTrust,
  name: string,
): Promise<FolderSummary> {
  const { state: organization } = await trust.organization();
  const id = newId();
  const key = newKey();
  const { text, state } = await firstEntry(trust, `folder:${id}`, organization.res.slice("org:".length), name, key);
  const encryptedKey = await box(decodeBase64(session.user_key), key, contexts.folderKey(id));
  const body = { id, name, encrypted_key: encryptedKey, key_version: firstKeyVersion, entry: text };
  const made = requireRequested<FolderSummary>(await send({ method: "POST", path: "/api/org/folders", body }), { id });
  await trust.keep(`folder:${id}`, state);
  return made;
}

/** Signs entry 0 of a new folder or vault, with the caller as its only manager. */
export async function firstEntry(
  trust: PersonTrust,
  res: `folder:${string}` | `vault:${string}`,
  organizationId: string,
  name: string,
  key: Uint8Array,
): ReturnType<typeof sign> {
  const { who, publicKey, privateKey } = await trust.self();
  const change = {
    org: organizationId,
    name,
    set: [{ who, key: publicKey, perm: "manage" as const }],
    ver: firstKeyVersion,
    check: await keyCheck(key, res, firstKeyVersion),
  };
  return understoodHistory(sign(null, res, who as `user:${string}`, await privateKey(), change)); // people make folders
}
