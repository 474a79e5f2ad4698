// For services without Postgres: no export loads the Postgres packages.

export { buildService, type ServiceParts } from "./build-service.ts";
export { followRevocations } from "./follow-revocations.ts";
export { askMembership, askMembershipInSession, requireActive, requireMember } from "./membership.ts";
export { newId } from "./new-id.ts";
export { runService } from "./run-service.ts";
export { readStatelessConfig, type StatelessConfig } from "./service-config.ts";
export type { ServiceConfig, ServiceInstance, ServiceModule, Shared } from "./service-module.ts";
export { sessionEnded } from "./session-ended.ts";
export {
  createStatelessBase,
  limiterWindowSeconds,
  type StatelessBase,
  type StatelessBaseOptions,
} from "./stateless-base.ts";
export { createUserVerifier } from "./user-verifier.ts";
export { type User, userActor } from "./user.ts";
export { createUsers, type Users } from "./users.ts";
