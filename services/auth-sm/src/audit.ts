export { type Actor, type AuditEntry, auditOf } from "@coffer/service";
