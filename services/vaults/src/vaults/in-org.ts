import type { AuditResult } from "@coffer/http";

/** The organization of a vault in the vault's audit target; nothing for a personal vault. */
export function inOrg(orgId: string | null): NonNullable<AuditResult["target"]> {
  return orgId === null ? {} : { parent_id: orgId };
}
