import { ServiceError } from "@coffer/errors";
import { sessionEnded } from "@coffer/service";
import type { Actor } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { AskingPerson } from "../store/secret-scopes.ts";
import { activeMembership, everyone } from "./membership.ts";

/** A folder whose secrets a person may list: with their ciphertext, or for an auditor their metadata alone. */
export interface ReadableFolder {
  orgId: string;
  actor: Actor;
  folderId: string;
  ciphertext: boolean;
}

/**
 * The person's right to see what is in a folder, by the statement that has read it. An auditor sees every folder's
 * metadata and never ciphertext.
 * @throws ServiceError `invalid_token` when the session has ended since the request was let in, `not_found` when the
 *   folder is not in the organization, `access_denied` when it was not granted, and what `activeMembership` throws.
 */
export function readableFolder(caller: User, folderId: string, state: AskingPerson | null): ReadableFolder {
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
