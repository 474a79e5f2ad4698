import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import type { Batch, ListedSecret } from "../store/secrets/secret-batches.ts";
import type { ReadSecret } from "../store/secrets/secret-in-scope.ts";
import type { ScopedPerson } from "../store/secrets/secret-scopes.ts";
import type { Unchecked } from "../store/unchecked.ts";
import { activeMembership, everyone } from "./membership.ts";
import { opened } from "./opened.ts";
import { secretNotFound } from "./secret.ts";

/**
 * A folder whose secrets a person may list. `ciphertext` is false for an auditor, who gets metadata
 * only.
 */
export interface ReadableFolder {
  orgId: string;
  actor: Actor;
  folderId: string;
  ciphertext: boolean;
}

/** The secrets of a batch, which the person may list. Throws like `readableFolder`. */
export function readableInFolder(
  caller: User,
  folderId: string,
  batch: Batch<ScopedPerson, ListedSecret>,
): { folder: ReadableFolder; rows: readonly ListedSecret[] } {
  return { folder: readableFolder(caller, folderId, batch.caller), rows: opened(batch.rows) };
}

/**
 * A secret that the person may read, or see without ciphertext.
 * @throws ServiceError `not_found` when the folder has no such secret, and like `readableFolder`
 */
export function readableSecretInFolder(
  caller: User,
  folderId: string,
  found: { caller: ScopedPerson; secret: Unchecked<ReadSecret | null> } | null,
): { folder: ReadableFolder; secret: ReadSecret } {
  const folder = readableFolder(caller, folderId, found?.caller ?? null);
  const secret = found && opened(found.secret);
  if (secret === null) throw secretNotFound(caller);
  return { folder, secret };
}

/**
 * Authorizes a person's read of a folder from the state that the statement has read. An auditor
 * sees every folder's metadata and never ciphertext.
 * @throws ServiceError `invalid_token` when the session ended after the request was authenticated;
 * `not_found` when the organization has no such folder; `access_denied` without a grant; and what
 * `activeMembership` throws
 */
function readableFolder(caller: User, folderId: string, state: ScopedPerson | null): ReadableFolder {
  if (state === null || !state.session_lasts) {
    throw sessionEnded();
  }
  const { orgId, actor, role } = activeMembership(caller, everyone, state);
  if (state.folder === null) throw new ServiceError("not_found", "folder not found");
  if (role === "auditor") return { orgId, actor, folderId, ciphertext: false };
  if (state.folder.permission === null) {
    throw new ServiceError("access_denied", "you have no read permission on this folder");
  }
  return { orgId, actor, folderId, ciphertext: true };
}
