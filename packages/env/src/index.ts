export { closest } from "./closest.ts";
export { ConfigurationError } from "./configuration-error.ts";
export { describeVariables } from "./describe-variables.ts";
export { openTelemetryFromFiles } from "./open-telemetry.ts";
export { type Environment, readEnvironment, type VariableName } from "./read-environment.ts";
export { localBaseUrls, variables } from "./variables.ts";
export { parseRedisGroup, type RedisCluster, type RedisSentinels } from "./redis-group.ts";
export type { Variable } from "./variable.ts";
export type { BusCredentials } from "./parse-credentials.ts";
