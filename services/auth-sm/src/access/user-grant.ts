import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { findUserGrant, type UserGrant } from "../store/folders/folder-grants.ts";

/**
 * A person's grant on a folder of the organization; `permission` is null without a grant.
 * @throws ServiceError `not_found` when the organization has no such folder
 */
export async function requireUserGrant(
  db: Queryable,
  { userId }: User,
  folder: { orgId: string; folderId: string },
): Promise<UserGrant> {
  const grant = await findUserGrant(db, { userId, ...folder });
  if (grant === null) throw new ServiceError("not_found", "folder not found");
  return grant;
}
