/** What a member of a vault may do there; each includes the ones before it. */
export const permissions = ["read", "write", "manage"] as const;
export type Permission = (typeof permissions)[number];

/** Whether a permission of `held` covers what needs `needed`. */
export function covers(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}
