import type { AuditDraft } from "../src/index.ts";

/** A draft as a service makes it, with some fields replaced. */
export function draft(replaced: Partial<AuditDraft> = {}): AuditDraft {
  return {
    schema: "coffer.audit/1",
    id: "019a9e2c-5b60-7c1e-9d3f-2a4b6c8d0e1f",
    time: "2026-11-20T10:00:00.123456Z",
    org_id: "019a9e00-0000-7000-8000-0000000000a1",
    action: "secret.read",
    outcome: "success",
    actor: { type: "client", id: "019a9e10-1111-7111-8111-111111111111" },
    target: { type: "secret", id: "Qm9vb2tGb29CYXJCYXpRdQ" },
    source: { ip: "203.0.113.7", user_agent: "curl/8" },
    request: { id: "r-1", method: "GET", route: "/api/sm/v1/secrets/:uid", status: 200 },
    ...replaced,
  };
}
