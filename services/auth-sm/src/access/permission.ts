/** What a grant on a folder allows; each includes the ones before it. */
export const permissions = ["read", "write", "manage"] as const;
export type Permission = (typeof permissions)[number];

/** Whether a grant of `held` covers what needs `needed`. */
export function covers(held: Permission, needed: Permission): boolean {
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}
