import { existsSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { resolve } from "node:path";
import type { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import type { ServiceName } from "@coffer/events";
import type { createTelemetry, Readiness } from "@coffer/telemetry";
import { checkout } from "./checkout.ts";

type TelemetryOptions = Parameters<typeof createTelemetry>[0];

/** What the services of one process have in common: one set of metrics; `destination` is where this one's log goes. */
export interface Shared {
  registry: NonNullable<TelemetryOptions["registry"]>;
  destination: NonNullable<TelemetryOptions["destination"]>;
}

/** A service that is built and connected but listens nowhere: its caller gives it requests. */
export interface ServiceInstance {
  listener: RequestListener;
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  ready(): Promise<Readiness>;
  /** Ends what the service holds, after its last request was answered: bus, pools, timers. */
  close(): Promise<void>;
}

/**
 * What every service exports: `readConfig` from src/config.ts, `migrateService` from src/migrate.ts and `createService`
 * from src/service.ts. Besides, src/main.ts runs it alone: it listens on COFFER_HOST and COFFER_PORT, and with its
 * management on COFFER_MANAGEMENT_PORT, and stops on SIGINT, SIGTERM and, when it was forked, on `disconnect`. Forked, it sends
 * `{type: "ready", url, management_url}` once it answers.
 */
export interface ServiceRoom {
  /** Throws ConfigurationError. */
  readConfig(env: NodeJS.ProcessEnv): unknown;
  /** Brings the service's schema up to date. `url` is that of the service's own role. */
  migrateService(options: { url: string }): Promise<unknown>;
  createService(config: unknown, shared?: Shared): Promise<ServiceInstance>;
}

export interface ServiceRow {
  readonly name: ServiceName;
  /** Requests to these paths, and below them, are its own. The longest match wins. */
  readonly paths: readonly string[];
  /** The role and the schema in Postgres, or `null` for a service that stores nothing. */
  readonly schema: string | null;
}

/** The path table: the same as that of the ingress in a cluster. */
export const allServices: readonly ServiceRow[] = [
  {
    name: "auth-sm",
    paths: ["/api/sm", "/api/auth", "/api/account", "/api/org", "/api/orgs", "/api/users", "/.well-known"],
    schema: "auth_sm",
  },
  { name: "vaults", paths: ["/api/vaults"], schema: "vaults" },
  { name: "sync", paths: ["/api/sync/ws"], schema: null },
  { name: "billing-webhook", paths: ["/api/webhooks/stripe"], schema: "billing_webhook" },
  { name: "siem-forwarder", paths: ["/api/org/siem", "/api/org/audit"], schema: "siem_forwarder" },
  { name: "scanner", paths: ["/api/scanner"], schema: null },
];

/** The folder of a service in the checkout. */
export function folderOf(name: ServiceName): string {
  return resolve(checkout, "services", name);
}

/** The services of this checkout, in the order of the table. */
export function presentServices(): ServiceRow[] {
  return allServices.filter(({ name }) => existsSync(resolve(folderOf(name), "src/main.ts")));
}

/** Loads what a service exports. */
export async function loadService(name: ServiceName): Promise<ServiceRoom> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(resolve(folderOf(name), "src", file)).href);
  const rooms = await Promise.all(["config.ts", "migrate.ts", "service.ts"].map(load));
  return Object.assign({}, ...rooms) as ServiceRoom; // the shape that every service keeps, see ServiceRoom
}
