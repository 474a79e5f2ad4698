import type { LocalStores } from "./local-stores.ts";
import type { ServiceRow } from "./services.ts";

export interface EnvironmentOptions {
  /** The environment of the whole installation. */
  env: NodeJS.ProcessEnv;
  stores: LocalStores;
  baseUrls: readonly string[];
  /** Given when a router stands before the services: it decides the source address and proves itself with this. */
  routerSecret: string | null;
}

/** The environment that configures one service: the installation's, with this service's own addresses and passwords. */
export function environmentOf({ name, schema }: ServiceRow, options: EnvironmentOptions): NodeJS.ProcessEnv {
  const { env, stores, baseUrls, routerSecret } = options;
  const credentials = stores.natsCredentials[name];
  const own: Record<string, string | undefined> = {
    COFFER_BASE_URL: baseUrls.join(","),
    COFFER_HOST: "127.0.0.1",
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_POSTGRES_URL: schema === null ? undefined : stores.postgresUrls[schema],
    COFFER_NATS_URL: stores.urls.nats,
    COFFER_NATS_CREDENTIALS: credentials === undefined ? undefined : JSON.stringify({ [name]: credentials }),
    COFFER_REDIS_URL: stores.redisUrls[name],
    COFFER_PROCESSES: undefined,
    COFFER_DATA_DIR: undefined,
    COFFER_ROUTER_SECRET: routerSecret ?? undefined,
    ...(routerSecret === null ? {} : { COFFER_TRUSTED_PROXY_CIDRS: undefined }),
  };
  const replaced = new Set(Object.keys(own).flatMap((key) => [key, `${key}_FILE`]));
  const kept = Object.entries(env).filter(([key]) => !replaced.has(key));
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...kept, ...set]);
}
