// The audit of an organization, and where it is sent.

export interface AuditWish {
  /** The id of the organization; null for the one that the screens are about. */
  organization: string | null;
  /** Empty for every action, outcome and actor. */
  action: string;
  outcome: string;
  actor: string;
  /** Days as YYYY-MM-DD in the person's time, both included; empty for no limit. */
  from: string;
  to: string;
  /** So many of the newest records, at most 1,000. */
  limit: number;
}

export interface AuditRow {
  seq: number;
  time: string;
  action: string;
  outcome: string;
  actor: string;
  target: string;
  ip: string;
  /** The whole record as JSON. */
  record: string;
}

export interface AuditView {
  /** The organization whose records these are; null when the person may not read them. */
  organization: string | null;
  /** The members, for the choice of an actor. */
  members: { id: string; email: string }[];
  rows: AuditRow[];
  /** Records of the whole chain. */
  count: number;
}

export interface ChainView {
  count: number;
  /** Where the chain breaks, and how; null when it is whole. */
  broken: { seq: number; problem: string } | null;
  /** Events that were lost by the service's own record. */
  gaps: number;
  /** The record up to which this browser had verified it before; 0 when it had not. */
  before: number;
}

export type DestinationFormat = "hec" | "log_analytics" | "logs_intake" | "ecs";

export interface DestinationView {
  id: string;
  /** Its address, when it has no name. */
  name: string;
  format: DestinationFormat;
  url: string;
  enabled: boolean;
  /** Null before the first delivery. `status`: of the answer; null without one. */
  lastDelivery: { status: number | null; at: string; error: string | null } | null;
}

export interface DestinationsView {
  maySee: boolean;
  mayManage: boolean;
  destinations: DestinationView[];
}

/** A destination's response to a test event. */
export interface TestedView {
  ok: boolean;
  status: number | null;
  error: string | null;
}

export interface AuditCalls {
  destinations(): DestinationsView;
  createDestination(input: {
    format: DestinationFormat;
    url: string;
    credentials: Record<string, string>;
  }): DestinationsView;
  switchDestination(input: { id: string; enabled: boolean }): DestinationsView;
  removeDestination(id: string): DestinationsView;
  testDestination(id: string): TestedView;
  audit(wish: AuditWish): AuditView;
  /** All records of the wish, oldest first, as lines of JSON. */
  exportAudit(wish: AuditWish): { file: Blob; count: number };
  /** Recomputes the whole chain of an organization, and remembers its end for the next time. */
  verifyAudit(organization: string): ChainView;
}
