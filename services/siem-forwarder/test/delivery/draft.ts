import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import { v7 as uuidv7 } from "uuid";

/** The record of a machine's read in an organization, with whatever is given instead. */
export function draftOf(orgId: string | null, given: Partial<AuditDraft> = {}): AuditDraft {
  return {
    schema: "coffer.audit/1",
    id: uuidv7(),
    time: new Date().toISOString(),
    org_id: orgId,
    action: "secret.read",
    outcome: "success",
    actor: { type: "client", id: randomUUID(), application_id: randomUUID() },
    target: { type: "secret", id: "AAAAAAAAAAAAAAAAAAAAAA", parent_id: randomUUID() },
    source: { ip: "203.0.113.7", user_agent: 'curl/8 "Zoë" \u{1f512}' },
    request: { id: randomUUID(), method: "GET", route: "/api/sm/v1/secrets/{uid}", status: 200 },
    ...given,
  };
}

/** That many such records. */
export function draftsOf(orgId: string, count: number, given: Partial<AuditDraft> = {}): AuditDraft[] {
  return Array.from({ length: count }, () => draftOf(orgId, given));
}
