import { ServiceError } from "@coffer/errors";
import { sessionEnded } from "@coffer/service";
import type { Actor } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { ScopedPerson } from "../store/secret-scopes.ts";
import { activeMembership, everyone } from "./membership.ts";

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

/**
 * Authorizes a person's read of a folder from the state that the statement has read. An auditor
 * sees every folder's metadata and never ciphertext.
 * @throws ServiceError `invalid_token` when the session ended after the request was authenticated;
 * `not_found` when the organization has no such folder; `access_denied` without a grant; and what
 * `activeMembership` throws
 */
export function readableFolder(caller: User, folderId: string, state: ScopedPerson | null): ReadableFolder {
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
