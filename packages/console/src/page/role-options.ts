import { m } from "../messages/messages.ts";

/** The roles that a member can have, with their names. */
export const roleOptions = (["member", "auditor", "admin", "owner"] as const).map(
  (role) => [role, m.roles[role]] as const,
);
