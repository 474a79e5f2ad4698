import { readEnvironment } from "@coffer/env";
import { storeAddresses } from "@coffer/service";

/** Every variable that this service reads; docs/running.md has the table. */
const names = [
  "COFFER_PORT",
  "COFFER_HOST",
  "COFFER_MANAGEMENT_PORT",
  "COFFER_BASE_URL",
  "COFFER_POSTGRES_URL",
  "COFFER_NATS_URL",
  "COFFER_NATS_CREDENTIALS",
  "COFFER_REDIS_URL",
  "COFFER_REPLICAS",
  "COFFER_DRAIN_SECONDS",
  "COFFER_TRUSTED_PROXY_CIDRS",
  "COFFER_ROUTER_SECRET",
  "COFFER_LIMIT_STRICT",
  "COFFER_LIMIT_STANDARD",
  "COFFER_LIMIT_USER",
  "COFFER_ACCESS_TOKEN_SECONDS",
  "COFFER_SYNC_ALLOWED_ORIGINS",
  "COFFER_LOG_LEVEL",
] as const;

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the service's configuration from environment variables.
 * @throws ConfigurationError with all problems at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const values = readEnvironment(environment, names);
  return { ...values, stores: storeAddresses("siem-forwarder", values) };
}
