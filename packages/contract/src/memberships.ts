/** The roles of an organization's members. */
export const roles = ["owner", "admin", "auditor", "member"] as const;

export type Role = (typeof roles)[number];

/** The states of a membership. A suspended member keeps the grants and may use none of them. */
export const memberStatuses = ["active", "suspended"] as const;

export type MemberStatus = (typeof memberStatuses)[number];
