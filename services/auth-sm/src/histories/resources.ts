import type { Permission, Role } from "@coffer/contract";
import type { Holder, Resource } from "@coffer/history";
import { managers } from "../access/membership.ts";
import type { MemberKey } from "../store/organizations/members.ts";

export const orgRes = (orgId: string): Resource => `org:${orgId}`;

export const folderRes = (folderId: string): Resource => `folder:${folderId}`;

/** The permission of a role in the organization's history. */
export function permissionOf(role: Role): Permission {
  return managers.includes(role) ? "manage" : "read";
}

/** A member in the form of the organization's history. */
export function memberHolder({ user_id: id, public_key: key, role, email }: MemberKey): Holder {
  return { who: `user:${id}`, key, perm: permissionOf(role), email };
}

/** A person or machine with a grant, in the form of the folder's history. */
export function folderHolder(holder: {
  kind: "user" | "client";
  id: string;
  public_key: string;
  permission: Permission;
}): Holder {
  return { who: `${holder.kind}:${holder.id}`, key: holder.public_key, perm: holder.permission };
}
