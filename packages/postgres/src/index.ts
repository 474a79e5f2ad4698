export { briefly, briefWaits } from "./brief-waits.ts";
export { createDatabase } from "./database.ts";
export type { Database, DatabaseOptions } from "./database.ts";
export { sql } from "./sql.ts";
export type { Queryable, Transaction } from "./sql.ts";
export type { Prepared } from "./prepared.ts";
export { eachOf, prepareEach } from "./prepared-each.ts";
export type { PreparedEach } from "./prepared-each.ts";
export type { Line, Statement } from "./line.ts";
export { createGroupCommit } from "./group-commit.ts";
export type { GroupCommitOptions } from "./group-commit.ts";
export { createAuditLog } from "./audit-log.ts";
export { createMigrationCheck } from "./migration-check.ts";
export { appliedChecksums, migrate, migrationChecksums } from "./migrate.ts";
export type { MigrateOptions } from "./migrate.ts";
export { listWaiting } from "./list-waiting.ts";
export { MigrationRefused, outboxMigration } from "./migrations.ts";
export type { Migration, MigrationSource } from "./migrations.ts";
export {
  auditPayload,
  enqueue,
  enqueueAudit,
  enqueueAudits,
  enqueueEach,
  outboxColumns,
  outboxValues,
} from "./enqueue.ts";
export { startRelay } from "./relay.ts";
export type { Relay, RelayOptions } from "./relay.ts";
export { deliverOver } from "./deliver.ts";
export type { Deliver, DeliveryBus, RelayedSubject } from "./deliver.ts";
export { isHeldUp, isUnavailable, isUniqueViolation, QueryFailure } from "./failure.ts";
export { orConflict } from "./or-conflict.ts";
export { RowMismatch } from "./check-rows.ts";
