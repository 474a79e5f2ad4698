import { type BusCredentials, ConfigurationError, type Environment } from "@coffer/env";
import type { ServiceName } from "@coffer/events";

type GivenShared = Environment<"COFFER_NATS_URL" | "COFFER_NATS_CREDENTIALS" | "COFFER_REDIS_URL">;
type Given = GivenShared & Environment<"COFFER_POSTGRES_URL">;

/** The addresses of the stores that all services share. */
export interface SharedStores {
  /** `null`: without Redis, in a process that runs all services. */
  redisUrl: string | null;
  nats: { url: string } & BusCredentials;
}

/** The addresses of a service's stores. */
export interface StoreAddresses extends SharedStores {
  postgresUrl: string;
}

/**
 * The store addresses of a service. `npm start` provides them itself.
 * @throws ConfigurationError naming everything that is missing
 */
export function storeAddresses(service: ServiceName, given: Given): StoreAddresses {
  const { COFFER_POSTGRES_URL: postgresUrl } = given;
  const shared = sharedOf(service, given);
  if (postgresUrl === undefined || Array.isArray(shared)) {
    const own = postgresUrl === undefined ? ["COFFER_POSTGRES_URL is required"] : [];
    throw new ConfigurationError([...own, ...(Array.isArray(shared) ? shared : [])]);
  }
  return { postgresUrl, ...shared };
}

/**
 * The store addresses of a service without Postgres.
 * @throws ConfigurationError naming everything that is missing
 */
export function sharedStoreAddresses(service: ServiceName, given: GivenShared): SharedStores {
  const shared = sharedOf(service, given);
  if (Array.isArray(shared)) throw new ConfigurationError(shared);
  return shared;
}

/** The addresses, or what is missing. */
function sharedOf(service: ServiceName, given: GivenShared): SharedStores | string[] {
  const { COFFER_REDIS_URL: redisUrl, COFFER_NATS_URL: natsUrl } = given;
  const credentials = given.COFFER_NATS_CREDENTIALS?.[service];
  if (redisUrl === undefined || natsUrl === undefined || credentials === undefined) {
    return [
      ...(redisUrl === undefined ? ["COFFER_REDIS_URL is required"] : []),
      ...(natsUrl === undefined ? ["COFFER_NATS_URL is required"] : []),
      ...(credentials === undefined ? [`COFFER_NATS_CREDENTIALS must have an entry for ${service}`] : []),
    ];
  }
  return { redisUrl: redisUrl === "none" ? null : redisUrl, nats: { url: natsUrl, ...credentials } };
}
