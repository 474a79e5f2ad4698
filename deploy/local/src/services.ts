import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServiceName } from "@coffer/events";
import type { MigrationSource } from "@coffer/postgres";
import type { ServiceConfig, ServiceRoom } from "@coffer/service";
import { checkout } from "./checkout.ts";

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

type LoadedService = Pick<ServiceRoom<ServiceConfig>, "readConfig" | "createService">;

/** What a service with a schema exports from src/migrate.ts. */
export interface ServiceMigration {
  schema: string;
  /** What makes the schema. */
  migrations: MigrationSource;
  /** Brings the schema up to date; returns the names of what was applied. `url` is that of the service's own role. */
  migrateService: (options: { url: string }) => Promise<readonly string[]>;
}

/**
 * The program of a service that runs as a process of its own: forked, it sends `{type: "ready", url, management_url}`
 * once it answers, and ends when the process that forked it is gone.
 */
export function programOf(name: ServiceName): string {
  return resolve(checkout, "services", name, "src/main.ts");
}

/** The services of this checkout, in the order of the table. */
export function presentServices(): ServiceRow[] {
  return allServices.filter(({ name }) => existsSync(programOf(name)));
}

/**
 * Loads what a service exports to be run in this process: `readConfig` from src/config.ts and `createService` from
 * src/service.ts.
 */
export async function loadService({ name }: ServiceRow): Promise<LoadedService> {
  const rooms = await Promise.all([load(name, "config.ts"), load(name, "service.ts")]);
  return Object.assign({}, ...rooms) as LoadedService; // the shape that every service keeps
}

/** Loads what brings a service's schema up to date, and nothing else of it. */
export async function loadMigration({ name }: ServiceRow): Promise<ServiceMigration> {
  return (await load(name, "migrate.ts")) as ServiceMigration; // the shape that every service with a schema keeps
}

function load(name: ServiceName, file: string): Promise<unknown> {
  return import(pathToFileURL(resolve(checkout, "services", name, "src", file)).href);
}
