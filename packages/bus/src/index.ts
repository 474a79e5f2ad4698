export { type BusOptions, connectBus } from "./connect-bus.ts";
export type { Bus, RequestOptions, SubscribeOptions } from "./bus.ts";
export type { Handler } from "./reply.ts";
export type { EventHandler } from "./events.ts";
export { maxPayloadBytes } from "./wire.ts";
export { type NatsPermission, natsPermission, type NatsUser, natsUsers } from "./permissions.ts";
export { natsServerConfig, responseExpiry, type ServerConfigOptions } from "./server-config.ts";
