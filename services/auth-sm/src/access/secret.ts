import { ServiceError } from "@coffer/errors";
import type { Machine } from "../callers/machine.ts";
import { askerOf } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderSecretPath, SecretPath } from "../secrets/path.ts";
import type { SecretReceiptRow } from "../store/secrets.ts";
import { findReceiptInFolder, receiptOf } from "../store/secrets.ts";
import { activeClient } from "./client.ts";
import type { FolderAccess } from "./folder.ts";
import { granted, requireFolder } from "./folder.ts";

/** Who asks for which secret: a machine names it alone, a person below its folder. */
export type SecretTarget = { caller: Machine; params: SecretPath } | { caller: User; params: FolderSecretPath };

/**
 * A secret that the caller may write, as it is now: nothing keeps it so.
 * @throws ServiceError `secret_not_found` (to a machine) or `not_found` (to a person) when there is none, and what
 *   `requireFolder` throws.
 */
export async function requireWritableSecret(
  deps: Deps,
  target: SecretTarget,
): Promise<{ folder: FolderAccess; secret: SecretReceiptRow }> {
  const { caller, params } = target;
  if ("id" in params) {
    const folder = await requireFolder(deps, caller, params.id, "write");
    const secret = await findReceiptInFolder(deps.database.pool, folder.folderId, params.uid);
    if (secret === null) throw secretNotFound(caller);
    return { folder, secret };
  }
  if (caller.kind !== "machine") throw new TypeError("a person names a secret below its folder");
  const row = await deps.reads.receipt(askerOf(deps, caller), params.uid);
  const { orgId, actor } = activeClient(caller, row);
  if (row === null || row.uid === null) throw secretNotFound(caller);
  const { keyVersion } = granted({ permission: row.permission, key_version: row.folder_key_version }, "write");
  return { folder: { orgId, actor, folderId: row.folder_id, keyVersion }, secret: receiptOf(row) };
}

/** No such secret, in the words of the caller's interface. */
export function secretNotFound(caller: Machine | User): ServiceError {
  return new ServiceError(caller.kind === "machine" ? "secret_not_found" : "not_found", "secret not found");
}
