import { fileURLToPath } from "node:url";
import { line, listOf, oneOf, wholeNumber } from "./parse.ts";
import { baseUrl, cidr, listenHost, natsUrl, origin, path, redisUrl, storeUrl } from "./parse-address.ts";
import { busCredentials, type BusCredentials, sealingKey, stripePrices } from "./parse-credentials.ts";
import type { ServiceName } from "@coffer/events";
import { variable, type Variable } from "./variable.ts";

/** The base addresses of a server on this machine. */
export function localBaseUrls(port: number): string[] {
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

const none = (): string[] => [];
const checkoutDataDirectory = (): string => fileURLToPath(new URL("../../../.coffer", import.meta.url));

const builtConsole = (): string => fileURLToPath(new URL("../../../packages/console/dist/release", import.meta.url));

const port = variable({
  name: "COFFER_PORT",
  shownDefault: "8080",
  meaning: "public port; 0 takes a free one",
  parse: wholeNumber(0, 65535),
  fallback: () => 8080,
});

const baseUrls = variable({
  name: "COFFER_BASE_URL",
  shownDefault: "http://127.0.0.1:<port>,http://localhost:<port>",
  meaning: "comma list of public base addresses; the first is canonical, each is a valid aud",
  parse: listOf(baseUrl),
  // With port 0 the addresses are known only after listening: an empty list, to be filled with
  // localBaseUrls.
  fallback: (given) => (given(port) === 0 ? [] : localBaseUrls(given(port))),
});

const stripeSecrets = variable({
  name: "COFFER_STRIPE_WEBHOOK_SECRETS",
  shownDefault: "none: billing off",
  meaning: "comma list of signing secrets",
  parse: listOf(line()),
  fallback: none,
  secret: true,
});

/** Every variable that the server knows, by name. */
export const variables = {
  COFFER_PORT: port,
  COFFER_HOST: variable({
    name: "COFFER_HOST",
    shownDefault: "127.0.0.1",
    meaning: "address to listen on; for other machines, set COFFER_BASE_URL too",
    parse: listenHost,
    fallback: () => "127.0.0.1",
  }),
  COFFER_MANAGEMENT_PORT: variable({
    name: "COFFER_MANAGEMENT_PORT",
    shownDefault: "a free one",
    meaning: "port of /livez, /readyz, /metrics, /version",
    parse: wholeNumber(0, 65535),
    fallback: () => 0,
  }),
  COFFER_DATA_DIR: variable({
    name: "COFFER_DATA_DIR",
    shownDefault: ".coffer in the checkout",
    meaning: "all state and logs of the local run",
    parse: path,
    fallback: checkoutDataDirectory,
  }),
  COFFER_BASE_URL: baseUrls,
  COFFER_POSTGRES_URL: variable({
    name: "COFFER_POSTGRES_URL",
    shownDefault: "started by npm start",
    meaning: "use this Postgres instead; with npm start as an owner who may create roles and schemas",
    parse: storeUrl("postgres", "postgresql"),
    fallback: (): string | undefined => undefined,
    secret: true,
  }),
  COFFER_NATS_URL: variable({
    name: "COFFER_NATS_URL",
    shownDefault: "started by npm start",
    meaning: "use this NATS instead (comma list for a cluster), with COFFER_NATS_CREDENTIALS",
    parse: natsUrl,
    fallback: (): string | undefined => undefined,
    secret: true,
  }),
  COFFER_NATS_CREDENTIALS: variable({
    name: "COFFER_NATS_CREDENTIALS",
    shownDefault: "made by npm start",
    meaning: "JSON by service of the users that a given NATS has",
    parse: busCredentials,
    fallback: (): Partial<Record<ServiceName, BusCredentials>> | undefined => undefined,
    secret: true,
  }),
  COFFER_REDIS_URL: variable({
    name: "COFFER_REDIS_URL",
    shownDefault: "started by npm start",
    meaning: "a Redis, redis-sentinel:// or redis-cluster://; none: in one process without one",
    parse: redisUrl,
    fallback: (): string | undefined => undefined,
    secret: true,
  }),
  COFFER_REPLICAS: variable({
    name: "COFFER_REPLICAS",
    shownDefault: "1",
    meaning: "largest number of replicas (for the limiter without Redis)",
    parse: wholeNumber(1, 10_000),
    fallback: () => 1,
  }),
  COFFER_DRAIN_SECONDS: variable({
    name: "COFFER_DRAIN_SECONDS",
    shownDefault: "10",
    meaning: "over how many seconds connections are closed at shutdown",
    parse: wholeNumber(0, 3600),
    fallback: () => 10,
  }),
  COFFER_PROCESSES: variable({
    name: "COFFER_PROCESSES",
    shownDefault: "one",
    meaning: "one: all services in one process; separate: each its own process behind the same port",
    parse: oneOf("one", "separate"),
    fallback: () => "one" as const,
  }),
  COFFER_TRUSTED_PROXY_CIDRS: variable({
    name: "COFFER_TRUSTED_PROXY_CIDRS",
    shownDefault: "none",
    meaning: "comma list of networks whose X-Forwarded-For is believed",
    parse: listOf(cidr),
    fallback: none,
  }),
  COFFER_LIMIT_STRICT: limit("STRICT", 5),
  COFFER_LIMIT_STANDARD: limit("STANDARD", 60),
  COFFER_LIMIT_USER: limit("USER", 300),
  COFFER_LIMIT_SOCKETS_SESSION: socketLimit("SESSION", 20),
  COFFER_LIMIT_SOCKETS_USER: socketLimit("USER", 200),
  COFFER_QUOTA_SECRETS: quota("SECRETS", 100_000, "most secrets of one organization"),
  COFFER_QUOTA_RECORDS: quota("RECORDS", 100_000, "most records of one user"),
  COFFER_QUOTA_MIB: quota("MIB", 2048, "most stored ciphertext in MiB, of one organization and of one user"),
  COFFER_ACCESS_TOKEN_SECONDS: variable({
    name: "COFFER_ACCESS_TOKEN_SECONDS",
    shownDefault: "900",
    meaning: "life of a user's access token in seconds",
    parse: wholeNumber(1, 86_400),
    fallback: () => 900,
  }),
  COFFER_SIGNUPS: variable({
    name: "COFFER_SIGNUPS",
    shownDefault: "open",
    meaning: "registration: open, invite (by invitation) or closed",
    parse: oneOf("open", "invite", "closed"),
    fallback: () => "open" as const,
  }),
  COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecrets,
  COFFER_STRIPE_PRICES: variable({
    name: "COFFER_STRIPE_PRICES",
    shownDefault: "none",
    meaning: "JSON: price id or lookup key to free, team, business, enterprise",
    parse: stripePrices,
    fallback: () => stripePrices("{}"),
  }),
  COFFER_BILLING: variable({
    name: "COFFER_BILLING",
    shownDefault: "stripe with signing secrets, else off",
    meaning: "where plans come from: stripe; off: every organization has the enterprise plan",
    parse: oneOf("off", "stripe"),
    // Only billing-webhook has the secrets. npm start and the chart set the variable for the other
    // services.
    fallback: (given) => (given(stripeSecrets).length > 0 ? ("stripe" as const) : ("off" as const)),
  }),
  COFFER_SIEM_ALLOWED_CIDRS: variable({
    name: "COFFER_SIEM_ALLOWED_CIDRS",
    shownDefault: "none",
    meaning: "comma list of private networks a SIEM may stand on; inside them http is allowed too",
    parse: listOf(cidr),
    fallback: none,
  }),
  COFFER_SIEM_KEYS: variable({
    name: "COFFER_SIEM_KEYS",
    shownDefault: "made by npm start",
    meaning: "comma list of keys that seal SIEM credentials; the first seals, all open",
    parse: listOf(sealingKey),
    fallback: none,
    secret: true,
  }),
  COFFER_CONSOLE: variable({
    name: "COFFER_CONSOLE",
    shownDefault: "on",
    meaning: "the console in a browser: on or off",
    parse: oneOf("on", "off"),
    fallback: () => "on" as const,
  }),
  COFFER_CONSOLE_DIR: variable({
    name: "COFFER_CONSOLE_DIR",
    shownDefault: "built by npm start",
    meaning: "the built files of the console, with their manifest",
    parse: path,
    fallback: builtConsole,
  }),
  COFFER_SYNC_ALLOWED_ORIGINS: variable({
    name: "COFFER_SYNC_ALLOWED_ORIGINS",
    shownDefault: "the base addresses",
    meaning: "comma list of browsers' origins for the WebSocket and cross-origin requests",
    parse: listOf(origin),
    fallback: (given) => [...new Set(given(baseUrls).map((url) => new URL(url).origin))],
  }),
  COFFER_LOG_LEVEL: variable({
    name: "COFFER_LOG_LEVEL",
    shownDefault: "info",
    meaning: "least level that is logged: trace, debug, info, warn, error, fatal, silent",
    parse: oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
    fallback: () => "info" as const,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable({
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    shownDefault: "none",
    meaning: "where traces go; the other standard OpenTelemetry variables apply too",
    parse: storeUrl("http", "https"),
    fallback: (): string | undefined => undefined,
  }),
  COFFER_ROUTER_SECRET: variable({
    name: "COFFER_ROUTER_SECRET",
    shownDefault: "none",
    meaning: "set by npm start itself: the secret that proves its router to the services",
    parse: line(16),
    fallback: (): string | undefined => undefined,
    secret: true,
    internal: true,
  }),
} as const;

function limit(bucket: string, requests: number): Variable<number> {
  return variable({
    name: `COFFER_LIMIT_${bucket}`,
    shownDefault: String(requests),
    meaning: `requests per source address in any 60 s: ${bucket.toLowerCase()} bucket`,
    parse: wholeNumber(1, 1_000_000),
    fallback: () => requests,
  });
}

function quota(what: string, most: number, meaning: string): Variable<number> {
  return variable({
    name: `COFFER_QUOTA_${what}`,
    shownDefault: String(most),
    meaning,
    parse: wholeNumber(1, 1_000_000_000),
    fallback: () => most,
  });
}

function socketLimit(whose: "SESSION" | "USER", connections: number): Variable<number> {
  return variable({
    name: `COFFER_LIMIT_SOCKETS_${whose}`,
    shownDefault: String(connections),
    meaning: `WebSocket connections of one ${whose.toLowerCase()} at each replica of sync`,
    parse: wholeNumber(1, 1_000_000),
    fallback: () => connections,
  });
}
