export { newId } from "./new-id.ts";
export { nodeFlags } from "./node-flags.ts";
export { createReadiness } from "./readiness.ts";
export type { ReadinessOptions } from "./readiness.ts";
export { runService } from "./run-service.ts";
export type { ServiceConfig, ServiceInstance, ServiceRoom, Shared } from "./service-room.ts";
export { storeAddresses } from "./store-addresses.ts";
export type { StoreAddresses } from "./store-addresses.ts";
