export type { Actor, AuditEntry } from "@coffer/service";
export { auditOf } from "@coffer/service";
