export { auditActions } from "./audit-actions.ts";
export type { AuditAction } from "./audit-actions.ts";
export { auditDraft, auditRecord, auditSchemaName, receivedAuditDraft } from "./audit-record.ts";
export type { AuditDraft, AuditRecord } from "./audit-record.ts";
export { chainAudit, firstPreviousHash, hashOfAudit, verifyAuditChain } from "./audit-chain.ts";
export type { ChainBreak, ChainHead } from "./audit-chain.ts";
export { revokedSessionsKey } from "./revoked-sessions.ts";
export { lostMemberships, lostMembershipsKey, mostLost } from "./lost-memberships.ts";
export type { LostMembership } from "./lost-memberships.ts";
export { serviceNames } from "./services.ts";
export type { ServiceName } from "./services.ts";
export { allEvents, allRpcs } from "./all-subjects.ts";
export {
  folderChanged,
  folderHolders,
  folderNewsSince,
  isUnderstood,
  memberships,
  mostNamed,
  namedMemberships,
} from "./organization-subjects.ts";
export type { Membership, ReceivedMembership } from "./organization-subjects.ts";
export { planNames } from "./plans.ts";
export type { PlanName } from "./plans.ts";
export { planChanged, siemPlanChanged } from "./plan-subjects.ts";
export type { PlanReport } from "./plan-subjects.ts";
export type { EventSubject, RpcSubject } from "./subject.ts";
export { auditAppend, auditAppendOf, auditAppends, auditRecorderOf, isAuditAppend } from "./audit-subjects.ts";
export { auditRecorders, mayRecord, recordedActions } from "./recorded-actions.ts";
export type { AuditRecorder } from "./recorded-actions.ts";
export { membershipOf, revokedSessions, sessionRevoked, signingKeys } from "./subjects.ts";
export {
  changesSince,
  heldVaultHeads,
  membershipChanged,
  newsSince,
  recordDeletion,
  recordsChanged,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultChanged,
  vaultViewers,
} from "./vault-subjects.ts";
export type { RecordChange, RecordDeletion } from "./vault-subjects.ts";
