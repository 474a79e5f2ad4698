export { runService } from "./run-service.ts";
export type { ServiceConfig, ServiceInstance, ServiceRoom, Shared } from "./service-room.ts";
