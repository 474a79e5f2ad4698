import type { AuditDraft } from "@coffer/events";
import type { ServiceBase, Sweeper, Users } from "@coffer/service";
import type { Config } from "./config.ts";
import type { Ticker } from "./sync/ticker.ts";
import type { MembershipCopy } from "./people/copy.ts";
import type { RecordReads } from "./store/records/record-reads.ts";
import type { RecordWrites } from "./store/records/record-writes.ts";

/** The dependencies of every operation: its first argument. Built once, in service.ts. */
export interface Deps extends Omit<ServiceBase<Config>, "migrations" | "name"> {
  /** A new UUIDv7. */
  newId(): string;
  /** Stores the audit record of a read or a refusal; resolves after its commit. */
  audit(record: AuditDraft): Promise<void>;
  /** Stores the ticks that devices sync from. */
  ticker: Ticker;
  /** Identifies the caller. */
  users: Users;
  /** The copy of auth-sm's memberships. */
  memberships: MembershipCopy;
  /** The prepared statement that reads a record. */
  reads: RecordReads;
  /** The prepared statements that write records. */
  writes: RecordWrites;
  /** Deletes the records of deleted vaults. */
  emptying: Sweeper;
}
