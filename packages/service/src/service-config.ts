import type { Environment, VariableName } from "@coffer/env";
import { readEnvironment } from "@coffer/env";
import type { ServiceName } from "@coffer/events";
import type { StoreAddresses } from "./store-addresses.ts";
import { storeAddresses } from "./store-addresses.ts";

/** The variables that every service with stores reads; docs/running.md has the table. */
const serviceVariables = [
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

/** What a service is told from outside: the common variables, its `Own`, and where its stores are. */
export type BaseConfig<Own extends VariableName = never> = Environment<(typeof serviceVariables)[number] | Own> & {
  stores: StoreAddresses;
};

/**
 * Reads a service's configuration from environment variables. `own` are those that only this service reads.
 * @throws ConfigurationError with all problems at once.
 */
export function readServiceConfig<Own extends VariableName = never>(
  service: ServiceName,
  environment: NodeJS.ProcessEnv,
  own: readonly Own[] = [],
): BaseConfig<Own> {
  const values = readEnvironment<(typeof serviceVariables)[number] | Own>(environment, [...serviceVariables, ...own]);
  return { ...values, stores: storeAddresses(service, values) };
}
