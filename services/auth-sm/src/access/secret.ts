import { ServiceError } from "@coffer/errors";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderSecretPath, SecretPath } from "../secrets/path.ts";
import { findReceiptInFolder, receiptOf, type SecretReceiptRow } from "../store/secrets/secrets.ts";
import { activeClient } from "./client.ts";
import { type FolderAccess, granted, requireFolder } from "./folder.ts";
import { opened } from "./opened.ts";

/**
 * The caller with the secret that the request names: a machine names it by uid, a person below its
 * folder.
 */
export type SecretTarget = { caller: Machine; params: SecretPath } | { caller: User; params: FolderSecretPath };

/**
 * A secret that the caller may write, read without a lock: it can change at once.
 * @throws ServiceError `secret_not_found` (machine) or `not_found` (person), and what
 * `requireFolder` throws
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
  const row = opened(await deps.reads.receipt(callingClientOf(deps, caller), params.uid));
  const { orgId, actor } = activeClient(caller, row);
  if (row === null || row.uid === null) throw secretNotFound(caller);
  const { keyVersion } = granted({ permission: row.permission, key_version: row.folder_key_version }, "write");
  return { folder: { orgId, actor, folderId: row.folder_id, keyVersion }, secret: receiptOf(row) };
}

/** The error code that the caller's interface defines for a missing secret. */
export function secretNotFound(caller: Machine | User): ServiceError {
  return new ServiceError(caller.kind === "machine" ? "secret_not_found" : "not_found", "secret not found");
}
