// The messages between the page and the worker. The page gets what a screen shows, and never a key or
// a token.

import type { AccountCalls } from "./account.ts";
import type { AuditCalls } from "./audit.ts";
import type { FoldersCalls } from "./folders.ts";
import type { MachinesCalls } from "./machines.ts";
import type { PeopleCalls } from "./people.ts";
import type { RecordsCalls } from "./records.ts";
import type { RecordSummary, SessionCalls, State } from "./session.ts";
import type { SharingCalls } from "./sharing.ts";
import type { ToDoCalls } from "./to-do.ts";
import type { TransferCalls } from "./transfer.ts";
import type { TravelCalls } from "./travel.ts";
import type { TrustCalls } from "./trust.ts";

/** The calls of the page. Each result is a plain value. */
export interface Calls
  extends
    SessionCalls,
    SharingCalls,
    RecordsCalls,
    TravelCalls,
    FoldersCalls,
    MachinesCalls,
    PeopleCalls,
    TransferCalls,
    ToDoCalls,
    AuditCalls,
    TrustCalls,
    AccountCalls {}

export type CallName = keyof Calls;

export interface CallFailure {
  /** A code of CofferError, or of the console: `wrong_password`, `unexpected`. */
  code: string;
  message: string;
  retryAfterSeconds: number | null;
}

export type ToWorker = {
  [Name in CallName]: { id: number; name: Name; input: Parameters<Calls[Name]>[0] };
}[CallName];

export type FromWorker =
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "failure"; id: number; failure: CallFailure }
  | { kind: "state"; state: State }
  /** `all`: these are all records, by name; otherwise they replace and join those that the page has. */
  | { kind: "records"; all: boolean; changed: RecordSummary[]; removed: string[] };
