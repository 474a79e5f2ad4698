export { briefly, briefWaits } from "./brief-waits.ts";
export { createDatabase, type Database, type DatabaseOptions } from "./database.ts";
export { type Fragment, type Queryable, sql, type Transaction } from "./sql.ts";
export type { Prepared } from "./prepared.ts";
export { eachOf, type PreparedEach, prepareEach } from "./prepared-each.ts";
export type { PipelinedConnection, Statement } from "./pipelined-connection.ts";
export { createGroupCommit, type GroupCommitOptions } from "./group-commit.ts";
export { createAuditLog } from "./audit-log.ts";
export { createMigrationCheck } from "./migration-check.ts";
export { appliedChecksums, migrate, type MigrateOptions, migrationChecksums } from "./migrate.ts";
export { listWaiting } from "./list-waiting.ts";
export { type Migration, MigrationRefused, type MigrationSource, outboxMigration } from "./migrations.ts";
export {
  auditPayload,
  enqueue,
  enqueueAudit,
  enqueueAudits,
  enqueueEach,
  outboxColumns,
  outboxValues,
} from "./enqueue.ts";
export { type Relay, type RelayOptions, startRelay } from "./relay.ts";
export { type Deliver, deliverOver, type DeliveryBus, type RelayedSubject } from "./deliver.ts";
export { isHeldUp, isUnavailable, isUniqueViolation, QueryFailure } from "./failure.ts";
export type { WriteState } from "./write-check.ts";
export { orConflict } from "./or-conflict.ts";
export { RowMismatch } from "./check-rows.ts";
