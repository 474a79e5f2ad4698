export {
  type AuditDraft,
  auditDraft,
  auditRecord,
  type AuditRecord,
  auditSchemaName,
  receivedAuditDraft,
} from "./audit-record.ts";
export { chainAudit, hashOfAudit, verifyAuditChain } from "./audit-chain.ts";
export { type ChainBreak, type ChainHead, firstPreviousHash } from "./verify-chain.ts";
export {
  type LostMembership,
  lostMemberships,
  lostMembershipsKey,
  mostLost,
  revokedSessionsKey,
} from "./redis-keys.ts";
export { type DeployedService, isOnBus, type ServiceName, serviceNames } from "./services.ts";
export { allEvents, allRpcs } from "./all-subjects.ts";
export {
  folderCatchUpSince,
  folderChanged,
  folderHolders,
  isUnderstood,
  type Membership,
  memberships,
  mostNamed,
  namedMemberships,
  type ReceivedMembership,
} from "./organization-subjects.ts";
export { planChanged, type PlanReport, siemPlanChanged } from "./plan-subjects.ts";
export { identifyMachine, scanDocuments } from "./scanner-subjects.ts";
export type { EventSubject, RpcSubject } from "./subject.ts";
export { auditAppend, auditAppendOf, auditAppends, auditRecorderOf, isAuditAppend } from "./audit-subjects.ts";
export { type AuditRecorder, auditRecorders, mayRecord, recordedActions } from "./recorded-actions.ts";
export { membershipOf, revokedSessions, sessionRevoked, signingKeys } from "./subjects.ts";
export {
  catchUpSince,
  changesSince,
  heldVaultHeads,
  membershipChanged,
  type RecordChange,
  type RecordDeletion,
  recordDeletion,
  recordsChanged,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultChanged,
  vaultViewers,
} from "./vault-subjects.ts";
