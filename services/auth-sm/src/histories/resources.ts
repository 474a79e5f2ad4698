import type { Holder, HistoryPermission, Resource } from "@coffer/history";
import { managers } from "../access/membership.ts";
import type { MemberKey } from "../store/members.ts";
import type { Role } from "../store/memberships.ts";

/** How entries name an organization. */
export const orgRes = (orgId: string): Resource => `org:${orgId}`;

/** How entries name a folder. */
export const folderRes = (folderId: string): Resource => `folder:${folderId}`;

/** The permission that a role has in the organization's history. */
export function permissionOf(role: Role): HistoryPermission {
  return managers.includes(role) ? "manage" : "read";
}

/** A member of an organization as its history names the person. */
export function memberHolder({ user_id: id, public_key: key, role, email }: MemberKey): Holder {
  return { who: `user:${id}`, key, perm: permissionOf(role), email };
}

/** A person or a machine with a grant on a folder as the folder's history names them. */
export function folderHolder(holder: {
  kind: "user" | "client";
  id: string;
  public_key: string;
  permission: HistoryPermission;
}): Holder {
  return { who: `${holder.kind}:${holder.id}`, key: holder.public_key, perm: holder.permission };
}
