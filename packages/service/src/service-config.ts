import { type Environment, readEnvironment, type VariableName } from "@coffer/env";
import type { ServiceName } from "@coffer/events";
import { sharedStoreAddresses, type SharedStores, storeAddresses, type StoreAddresses } from "./store-addresses.ts";

/** The variables that every service reads; docs/running.md has the table. */
const commonVariables = [
  "COFFER_PORT",
  "COFFER_HOST",
  "COFFER_MANAGEMENT_PORT",
  "COFFER_BASE_URL",
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
  "OTEL_EXPORTER_OTLP_ENDPOINT",
] as const;

type CommonName = (typeof commonVariables)[number];
type StoringName = CommonName | "COFFER_POSTGRES_URL";

/** The common variables, the service's `Own` variables, and the addresses of its stores. */
export type BaseConfig<Own extends VariableName = never> = Environment<StoringName | Own> & {
  stores: StoreAddresses;
};

/** The configuration of a service without Postgres. */
export type StatelessConfig<Own extends VariableName = never> = Environment<CommonName | Own> & {
  stores: SharedStores;
};

/**
 * Reads a service's configuration from environment variables. `own` are those that only this
 * service reads.
 * @throws ConfigurationError with all problems at once.
 */
export function readServiceConfig<Own extends VariableName = never>(
  service: ServiceName,
  environment: NodeJS.ProcessEnv,
  own: readonly Own[] = [],
): BaseConfig<Own> {
  const values = readEnvironment<StoringName | Own>(environment, [...commonVariables, "COFFER_POSTGRES_URL", ...own]);
  return { ...values, stores: storeAddresses(service, values) };
}

/**
 * Reads the configuration of a service without Postgres.
 * @throws ConfigurationError with all problems at once.
 */
export function readStatelessConfig<Own extends VariableName = never>(
  service: ServiceName,
  environment: NodeJS.ProcessEnv,
  own: readonly Own[] = [],
): StatelessConfig<Own> {
  const values = readEnvironment<CommonName | Own>(environment, [...commonVariables, ...own]);
  return { ...values, stores: sharedStoreAddresses(service, values) };
}
