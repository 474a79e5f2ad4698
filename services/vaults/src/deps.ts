import type { AuditDraft } from "@coffer/events";
import type { ServiceBase, Sweeper, Users } from "@coffer/service";
import type { Config } from "./config.ts";
import type { Ticker } from "./sync/ticker.ts";
import type { MembershipCopy } from "./people/copy.ts";
import type { RecordReads } from "./store/record-reads.ts";
import type { RecordWrites } from "./store/record-writes.ts";

/** All that an operation may use: its first argument. Built once, by hand, in service.ts. */
export interface Deps extends Omit<ServiceBase<Config>, "migrations" | "name"> {
  /** A new UUIDv7. */
  newId(): string;
  /** Makes the audit record of a read or a refusal durable; resolves after its commit. */
  audit(record: AuditDraft): Promise<void>;
  /** Keeps the moments that devices sync from. */
  ticker: Ticker;
  /** Who calls. */
  users: Users;
  /** The copy of who belongs to which organization. */
  memberships: MembershipCopy;
  /** The prepared statement that reads a record. */
  reads: RecordReads;
  /** The prepared statements that write records. */
  writes: RecordWrites;
  /** Deletes the records of deleted vaults. */
  emptying: Sweeper;
}
