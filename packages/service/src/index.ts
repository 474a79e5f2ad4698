export { retryOnConflict } from "./retry-on-conflict.ts";
export { entryText, type HistoryQuery, historyQuery, newEntry, type NewEntry } from "./histories/bodies.ts";
export { type ExpectedChange, type ExpectedHolder, fits } from "./histories/expected-change.ts";
export { nextState, type SentEntry } from "./histories/next-state.ts";
export { newId } from "./new-id.ts";
export { nodeFlags } from "./service-module.ts";
export { recordRefusal, refusalOutcome, type RefusalRecorder } from "./record-refusal.ts";
export { type MigrationProgram, runMigration } from "./run-migration.ts";
export { boxedKeyText, sealedKeyText } from "./sealed-keys.ts";
export { createServiceBase, type ServiceBase, type ServiceBaseOptions } from "./service-base.ts";
export { type BaseConfig, readServiceConfig } from "./service-config.ts";
export { sharedStoreAddresses, type SharedStores, storeAddresses, type StoreAddresses } from "./store-addresses.ts";
export { startSweeper, type Sweep, type Sweeper } from "./sweeper.ts";
export { identifyUser, type User, userActor, type UserChecks } from "./user.ts";
export { authenticateUser, createUsers, type Users } from "./users.ts";
export { sessionEnded } from "./session-ended.ts";
export {
  askMembership,
  askMembershipInSession,
  buildService,
  createStatelessBase,
  createUserVerifier,
  followRevocations,
  limiterWindowSeconds,
  readStatelessConfig,
  requireActive,
  requireMember,
  runService,
  type ServiceConfig,
  type ServiceInstance,
  type ServiceModule,
  type ServiceParts,
  type Shared,
  type StatelessBase,
  type StatelessBaseOptions,
  type StatelessConfig,
} from "./stateless.ts";
