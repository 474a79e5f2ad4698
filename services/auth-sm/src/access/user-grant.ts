import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import type { UserGrant } from "../store/folder-grants.ts";
import { findUserGrant } from "../store/folder-grants.ts";

/**
 * A person's grant on a folder of the organization; its `permission` is null where the folder was not granted.
 * @throws ServiceError `not_found` when the folder is not in the organization, `invalid_token` when the session has been
 *   ended since the request was let in.
 */
export async function requireUserGrant(
  db: Queryable,
  { userId, sessionId }: User,
  folder: { orgId: string; folderId: string },
): Promise<UserGrant> {
  const grant = await findUserGrant(db, { userId, sessionId, ...folder });
  if (grant === null) throw new ServiceError("not_found", "folder not found");
  if (!grant.session_lasts) throw sessionEnded();
  return grant;
}
