export { checkSigners, cutName } from "./check-signers.ts";
export { longestEntry } from "./claims.ts";
export { isEmail } from "./claims-problem.ts";
export type {
  Change,
  Claims,
  Cut,
  Holder,
  HolderId,
  HistoryPermission,
  Invitation,
  Resource,
  SignerId,
} from "./claims.ts";
export { extend, extendAll } from "./extend.ts";
export type { Extended } from "./extend.ts";
export { HistoryError } from "./history-error.ts";
export type { HistoryErrorCode } from "./history-error.ts";
export { makeInvitation, openInvitation } from "./invitations.ts";
export type { InvitationRequest } from "./invitations.ts";
export { readEntry } from "./read-entry.ts";
export type { Entry } from "./read-entry.ts";
export { sign } from "./sign.ts";
export type { SignedEntry } from "./sign.ts";
export { holderOf, isManager, kindOf } from "./state.ts";
export type { FormerMember, Head, HistoryState, OpenInvitation, Signer } from "./state.ts";
