export { asJudged } from "./as-judged.ts";
export { attemptedAction, attempting, plainTarget } from "./attempt.ts";
export type { Attempt, AttemptingRoute, Sent } from "./attempt.ts";
export { auditOf, userActor } from "./audit-of.ts";
export type { Actor, AuditEntry } from "./audit-of.ts";
export { entryText, historyQuery, newEntry } from "./histories/bodies.ts";
export type { HistoryQuery, NewEntry } from "./histories/bodies.ts";
export { fits } from "./histories/expected-change.ts";
export type { ExpectedChange, ExpectedHolder } from "./histories/expected-change.ts";
export { nextState } from "./histories/next-state.ts";
export type { SentEntry } from "./histories/next-state.ts";
export { newId } from "./new-id.ts";
export { nodeFlags } from "./node-flags.ts";
export { runMigration } from "./run-migration.ts";
export type { MigrationProgram } from "./run-migration.ts";
export { createServiceBase } from "./service-base.ts";
export type { ServiceBase, ServiceBaseOptions } from "./service-base.ts";
export { readServiceConfig } from "./service-config.ts";
export type { BaseConfig } from "./service-config.ts";
export { sharedStoreAddresses, storeAddresses } from "./store-addresses.ts";
export type { SharedStores, StoreAddresses } from "./store-addresses.ts";
export { startSweeper } from "./sweeper.ts";
export type { Sweep, Sweeper } from "./sweeper.ts";
export { identifyUser } from "./user.ts";
export type { User, UserChecks } from "./user.ts";
export { authenticateUser, createUsers } from "./users.ts";
export type { Users } from "./users.ts";
export { sessionEnded } from "./session-ended.ts";
export {
  buildService,
  createStatelessBase,
  limiterWindowSeconds,
  createUserVerifier,
  hearRevocations,
  readStatelessConfig,
  runService,
} from "./stateless.ts";
export type {
  ServiceConfig,
  ServiceInstance,
  ServiceParts,
  ServiceRoom,
  Shared,
  StatelessBase,
  StatelessBaseOptions,
  StatelessConfig,
} from "./stateless.ts";
