/** The permissions of a grant on a folder or vault. Each includes the ones before it. */
export const permissions = ["read", "write", "manage"] as const;

export type Permission = (typeof permissions)[number];

export function covers(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}
