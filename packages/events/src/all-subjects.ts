import { auditAppends } from "./audit-subjects.ts";
import { planChanged, siemPlanChanged } from "./plan-subjects.ts";
import { identifyMachine, scanDocuments } from "./scanner-subjects.ts";
import { membershipOf, revokedSessions, sessionRevoked, signingKeys } from "./subjects.ts";
import {
  folderChanged,
  folderHolders,
  folderCatchUpSince,
  memberships,
  namedMemberships,
} from "./organization-subjects.ts";
import {
  changesSince,
  heldVaultHeads,
  membershipChanged,
  catchUpSince,
  recordsChanged,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultChanged,
  vaultViewers,
} from "./vault-subjects.ts";

/** Every request between services. */
export const allRpcs = [
  ...auditAppends,
  signingKeys,
  membershipOf,
  revokedSessions,
  memberships,
  namedMemberships,
  folderHolders,
  folderCatchUpSince,
  changesSince,
  catchUpSince,
  vaultViewers,
  travelModeOf,
  setTravelMode,
  membershipChanged,
  heldVaultHeads,
  soleManagedVaults,
  planChanged,
  siemPlanChanged,
  identifyMachine,
  scanDocuments,
] as const;

/** Every event. */
export const allEvents = [sessionRevoked, folderChanged, recordsChanged, vaultChanged] as const;
