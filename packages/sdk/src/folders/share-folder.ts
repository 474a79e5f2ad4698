import type { Permission } from "@coffer/contract";
import { contexts } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { grantKey } from "../histories/grant-key.ts";
import { requireRequested } from "../http/require-requested.ts";
import { keyOf } from "../secrets/sealed-secret.ts";
import type { OpenFolder, SecretStore } from "../secrets/secret-store.ts";
import { memberIn } from "../trust/confirmed-key.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { FolderMemberView } from "../views.ts";
import { requireFolder } from "./fresh-folders.ts";

export interface ShareRequest {
  userId: string;
  permission: Permission;
}

/**
 * Seals a folder's key to a member's public key from the organization's history, and sends it with
 * the entry that names the member; or changes the member's permission. Throws CofferError
 * `holder_unconfirmed` when the history does not name the member, `no_key` or a code of histories
 * when the caller cannot use the folder's key, `access_denied` when the caller does not manage the
 * folder.
 */
export function shareFolder(
  store: SecretStore,
  trust: PersonTrust,
  folderId: string,
  { userId, permission }: ShareRequest,
): Promise<FolderMemberView> {
  return grantKey(trust, `folder:${folderId}`, async (state, organization) => ({
    holder: memberIn(organization, userId),
    permission,
    key: keyOf(await folderAt(store, folderId, state.ver)),
    context: contexts.sharedFolderKey(folderId),
    async send(body) {
      const path = `/api/org/folders/${folderId}/members/${userId}`;
      return requireRequested<FolderMemberView>(await store.send({ method: "PUT", path, body }), {
        user_id: userId,
        permission,
      });
    },
  }));
}

/**
 * A folder with the key version that its history names. Queries the service when another version is
 * stored. Throws CofferError `conflict` after a concurrent rotation.
 */
export async function folderAt(store: SecretStore, folderId: string, version: number | null): Promise<OpenFolder> {
  const isIt = ({ keyVersion, key }: OpenFolder): boolean => keyVersion === (version ?? undefined) && key !== null;
  const known = await requireFolder(store, folderId);
  if (isIt(known)) return known;
  await store.folders(true);
  const folder = await requireFolder(store, folderId);
  if (isIt(folder) || folder.key === null) return folder;
  throw new CofferError("conflict", `${folder.name} was given a new key at the same time: try again`);
}
