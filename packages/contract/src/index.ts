export { type AuditAction, auditActions, auditActorTypes, auditOutcomes } from "./audit-actions.ts";
export { type ErrorCode, errorCodes, isErrorCode, statusOf } from "./error-codes.ts";
export { type MemberStatus, memberStatuses, type Role, roles } from "./memberships.ts";
export { covers, type Permission, permissions } from "./permissions.ts";
export { type PlanName, planNames } from "./plans.ts";
export {
  type FolderChange,
  folderChanges,
  type PushAction,
  pushActions,
  recordActions,
  type RevocationReason,
  revocationReasons,
  vaultActions,
} from "./push-actions.ts";
export { type RecordType, recordTypes } from "./secret-types.ts";
export { type SiemFormat, siemFormats } from "./siem-formats.ts";
export { type VaultType, vaultTypes } from "./vault-types.ts";
