import { contexts, seal } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import { publicKeyOf, requireConfirmed } from "./public-key.ts";
import type { ConfirmKey } from "./public-key.ts";
import { keyOf } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { FolderMemberView, Permission } from "./views.ts";

/** Who is given a folder, and what the person may do in it. */
export interface ShareRequest {
  userId: string;
  /** How the person is called when the key is to be confirmed. */
  name: string;
  permission: Permission;
}

/**
 * Seals a folder's key to a member's public key and hands it over, or changes the member's permission.
 * Throws CofferError `no_key` when the caller does not hold the folder's key, `access_denied` when the member's key is not
 * confirmed or the caller does not manage the folder, `conflict` when the folder's key was rotated meanwhile.
 */
export async function shareFolder(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  folder: OpenFolder,
  { userId, name, permission }: ShareRequest,
  confirm: ConfirmKey,
): Promise<FolderMemberView> {
  const key = keyOf(folder);
  const { public_key, fingerprint } = await publicKeyOf(send, userId);
  await requireConfirmed({ kind: "user", id: userId, name, public_key, fingerprint }, confirm);
  const answer = await send({
    method: "PUT",
    path: `/api/org/folders/${encodeURIComponent(folder.id)}/members/${encodeURIComponent(userId)}`,
    body: {
      permission,
      encrypted_key: await seal(public_key, key, contexts.sharedFolderKey(folder.id)),
      key_version: folder.keyVersion,
    },
  });
  return askedFor<FolderMemberView>(answer, { user_id: userId, permission });
}
