import { auditAppends } from "./audit-subjects.ts";
import { planChanged, siemPlanChanged } from "./plan-subjects.ts";
import { membershipOf, revokedSessions, sessionRevoked, signingKeys } from "./subjects.ts";
import {
  folderChanged,
  folderHolders,
  folderNewsSince,
  memberships,
  namedMemberships,
} from "./organization-subjects.ts";
import {
  changesSince,
  heldVaultHeads,
  membershipChanged,
  newsSince,
  recordsChanged,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultChanged,
  vaultViewers,
} from "./vault-subjects.ts";

/** Every question that a service may ask another. */
export const allRpcs = [
  ...auditAppends,
  signingKeys,
  membershipOf,
  revokedSessions,
  memberships,
  namedMemberships,
  folderHolders,
  folderNewsSince,
  changesSince,
  newsSince,
  vaultViewers,
  travelModeOf,
  setTravelMode,
  membershipChanged,
  heldVaultHeads,
  soleManagedVaults,
  planChanged,
  siemPlanChanged,
] as const;

/** All news that a service may publish. */
export const allEvents = [sessionRevoked, folderChanged, recordsChanged, vaultChanged] as const;
