import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderSecretPath, SecretPath } from "../secrets/path.ts";
import type { SecretReceiptRow } from "../store/secrets.ts";
import { findSecretFolder, lockSecret } from "../store/secrets.ts";
import { requireClient } from "./client.ts";
import type { FolderAccess } from "./folder.ts";
import { requireFolder } from "./folder.ts";

/** Who asks for which secret: a machine names it alone, a person below its folder. */
export type SecretTarget = { caller: Machine; params: SecretPath } | { caller: User; params: FolderSecretPath };

/**
 * A secret that the caller may write, locked until the transaction ends.
 * @throws ServiceError `secret_not_found` (to a machine) or `not_found` (to a person) when there is none, and what
 *   `requireFolder` throws.
 */
export async function requireWritableSecret(
  tx: Transaction,
  deps: Deps,
  target: SecretTarget,
): Promise<{ folder: FolderAccess; secret: SecretReceiptRow }> {
  const { caller, params } = target;
  const folderId = "id" in params ? params.id : await folderOf(tx, deps, target);
  const folder = await requireFolder(tx, deps, caller, folderId, "write");
  const secret = await lockSecret(tx, folder.orgId, params.uid);
  if (secret?.folder_id !== folder.folderId) throw secretNotFound(caller);
  return { folder, secret };
}

async function folderOf(tx: Transaction, deps: Deps, { caller, params }: SecretTarget): Promise<string> {
  if (caller.kind !== "machine") throw new TypeError("a person names a secret below its folder");
  const { orgId } = await requireClient(tx, deps, caller);
  const folderId = await findSecretFolder(tx, orgId, params.uid);
  if (folderId === null) throw secretNotFound(caller);
  return folderId;
}

/** No such secret, in the words of the caller's interface. */
export function secretNotFound(caller: Machine | User): ServiceError {
  return new ServiceError(caller.kind === "machine" ? "secret_not_found" : "not_found", "secret not found");
}
