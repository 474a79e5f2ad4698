import { contexts } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import { memberIn } from "./histories/confirmed-key.ts";
import { grantKey } from "./histories/grant-key.ts";
import type { PersonTrust } from "./histories/person-trust.ts";
import { keyOf } from "./sealed-secret.ts";
import type { SecretStore } from "./secret-store.ts";
import { requireFolder } from "./fresh-folders.ts";
import type { FolderMemberView, Permission } from "./views.ts";

/** Who is given a folder, and what the person may do in it. */
export interface ShareRequest {
  userId: string;
  permission: Permission;
}

/**
 * Seals a folder's key to the public key that the organization's history has for a member, and hands it over with the entry
 * that names the member; or changes the member's permission.
 * Throws CofferError `holder_unconfirmed` when the history does not name the member, `no_key` or a code of histories when the
 * caller cannot use the folder's key, `access_denied` when the caller does not manage the folder.
 */
export function shareFolder(
  store: SecretStore,
  trust: PersonTrust,
  folderId: string,
  { userId, permission }: ShareRequest,
): Promise<FolderMemberView> {
  return grantKey(trust, `folder:${folderId}`, async (state) => {
    const { state: organization } = await trust.histories.newest(`org:${state.org ?? ""}`);
    return {
      holder: memberIn(organization, userId),
      permission,
      key: keyOf(await folderAt(store, folderId, state.ver)),
      context: contexts.sharedFolderKey(folderId),
      async send(body) {
        const path = `/api/org/folders/${folderId}/members/${userId}`;
        return askedFor<FolderMemberView>(await store.send({ method: "PUT", path, body }), {
          user_id: userId,
          permission,
        });
      },
    };
  });
}

/** A folder with the key of a version that its history names; asks again for one that is known with another. */
export async function folderAt(store: SecretStore, folderId: string, version: number | null) {
  const folder = await requireFolder(store, folderId);
  if (folder.keyVersion === (version ?? undefined) && folder.key !== null) return folder;
  await store.folders(true);
  return requireFolder(store, folderId);
}
