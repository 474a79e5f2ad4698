// What a service needs that keeps nothing in Postgres: nothing of this loads the packages that speak to it.

export { buildService } from "./build-service.ts";
export type { ServiceParts } from "./build-service.ts";
export { hearRevocations } from "./hear-revocations.ts";
export { newId } from "./new-id.ts";
export { runService } from "./run-service.ts";
export { readStatelessConfig } from "./service-config.ts";
export type { StatelessConfig } from "./service-config.ts";
export type { ServiceConfig, ServiceInstance, ServiceRoom, Shared } from "./service-room.ts";
export { createStatelessBase, limiterWindowSeconds } from "./stateless-base.ts";
export type { StatelessBase, StatelessBaseOptions } from "./stateless-base.ts";
export { createUserVerifier } from "./user-verifier.ts";
