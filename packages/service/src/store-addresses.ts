import type { BusCredentials, Environment } from "@coffer/env";
import { ConfigurationError } from "@coffer/env";
import type { ServiceName } from "@coffer/events";

type Given = Environment<"COFFER_POSTGRES_URL" | "COFFER_NATS_URL" | "COFFER_NATS_CREDENTIALS" | "COFFER_REDIS_URL">;

/** Where a service finds its stores. */
export interface StoreAddresses {
  postgresUrl: string;
  redisUrl: string;
  nats: { url: string } & BusCredentials;
}

/**
 * The stores of a service: `npm start` fills these in, everywhere else they are given.
 * @throws ConfigurationError with everything that is missing
 */
export function storeAddresses(service: ServiceName, given: Given): StoreAddresses {
  const { COFFER_POSTGRES_URL: postgresUrl, COFFER_REDIS_URL: redisUrl, COFFER_NATS_URL: natsUrl } = given;
  const credentials = given.COFFER_NATS_CREDENTIALS?.[service];
  if (postgresUrl === undefined || redisUrl === undefined || natsUrl === undefined || credentials === undefined) {
    throw new ConfigurationError([
      ...(postgresUrl === undefined ? ["COFFER_POSTGRES_URL is required"] : []),
      ...(redisUrl === undefined ? ["COFFER_REDIS_URL is required"] : []),
      ...(natsUrl === undefined ? ["COFFER_NATS_URL is required"] : []),
      ...(credentials === undefined ? [`COFFER_NATS_CREDENTIALS must have an entry for ${service}`] : []),
    ]);
  }
  return { postgresUrl, redisUrl, nats: { url: natsUrl, ...credentials } };
}
