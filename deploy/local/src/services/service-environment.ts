import { isOnBus } from "@coffer/events";
import type { LocalStores } from "../data/local-stores.ts";
import type { ServiceRow } from "./services.ts";
import type { Settings } from "../settings.ts";

export interface EnvironmentOptions {
  /** The environment of the whole installation. */
  env: NodeJS.ProcessEnv;
  stores: LocalStores;
  baseUrls: readonly string[];
  billing: Settings["COFFER_BILLING"];
  /**
   * Set if a router stands before the services: it decides the source address and proves itself
   * with this.
   */
  routerSecret: string | null;
  /** Seals the credentials of SIEM endpoints if `env` has no COFFER_SIEM_KEYS. */
  siemKey: string;
  /** The built files of the console; undefined without it. */
  consoleDirectory?: string | undefined;
}

/** The environment of one service: the installation's, with this service's own addresses and passwords. */
export function environmentOf({ name, schema }: ServiceRow, options: EnvironmentOptions): NodeJS.ProcessEnv {
  const { env, stores, baseUrls, billing, routerSecret, siemKey, consoleDirectory } = options;
  const credentials = isOnBus(name) ? stores.natsCredentials[name] : undefined;
  const isBilling = name === "billing-webhook";
  const own: Record<string, string | undefined> = {
    COFFER_BASE_URL: baseUrls.join(","),
    COFFER_HOST: "127.0.0.1",
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_POSTGRES_URL: schema === null ? undefined : stores.postgresUrls[schema],
    COFFER_NATS_URL: isOnBus(name) ? stores.urls.nats : undefined,
    COFFER_NATS_CREDENTIALS: credentials === undefined ? undefined : JSON.stringify({ [name]: credentials }),
    COFFER_REDIS_URL: isOnBus(name) ? stores.redisUrls[name] : undefined,
    COFFER_CONSOLE: undefined,
    COFFER_CONSOLE_DIR: name === "console" ? consoleDirectory : undefined,
    COFFER_PROCESSES: undefined,
    COFFER_DATA_DIR: undefined,
    COFFER_BILLING: billing,
    // Only the service that verifies Stripe's events has their signing secret.
    ...(isBilling ? {} : { COFFER_STRIPE_WEBHOOK_SECRETS: undefined, COFFER_STRIPE_PRICES: undefined }),
    COFFER_ROUTER_SECRET: routerSecret ?? undefined,
    ...siemKeysOf(name, env, siemKey),
    ...(routerSecret === null ? {} : { COFFER_TRUSTED_PROXY_CIDRS: undefined }),
  };
  const replaced = new Set(Object.keys(own).flatMap((key) => [key, `${key}_FILE`]));
  const inherited = Object.entries(env).filter(([key]) => !replaced.has(key));
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...inherited, ...set]);
}

/** Only siem-forwarder has the keys that seal the credentials of SIEM endpoints. */
function siemKeysOf(service: string, env: NodeJS.ProcessEnv, siemKey: string): Record<string, string | undefined> {
  if (service !== "siem-forwarder") return { COFFER_SIEM_KEYS: undefined };
  const given = [env["COFFER_SIEM_KEYS"], env["COFFER_SIEM_KEYS_FILE"]].some((text) => (text ?? "").trim() !== "");
  return given ? {} : { COFFER_SIEM_KEYS: siemKey };
}
