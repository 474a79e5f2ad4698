import type { AuditDraft } from "@coffer/events";

export function vaultTarget(id: string, orgId: string | null): AuditDraft["target"] {
  return { type: "vault", id, ...(orgId === null ? {} : { parent_id: orgId }) };
}
