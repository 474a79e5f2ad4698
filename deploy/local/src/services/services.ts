import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type DeployedService, isOnBus, type ServiceName } from "@coffer/events";
import type { MigrationSource } from "@coffer/postgres";
import type { ServiceConfig, ServiceModule } from "@coffer/service";
import { checkout } from "../checkout.ts";

export interface ServiceRow {
  readonly name: DeployedService;
  /** Its paths, including those below them. The longest match wins. */
  readonly paths: readonly string[];
  /** The role and the schema in Postgres; null for a service without tables. */
  readonly schema: string | null;
}

/** The path table, equal to that of the ingress in a cluster. */
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
  { name: "console", paths: ["/"], schema: null },
];

/** A service with users of its own in NATS and Redis. */
export interface BusServiceRow extends ServiceRow {
  readonly name: ServiceName;
}

export function onBus(rows: readonly ServiceRow[]): BusServiceRow[] {
  return rows.filter((row): row is BusServiceRow => isOnBus(row.name));
}

type LoadedService = Pick<ServiceModule<ServiceConfig>, "readConfig" | "createService">;

/** The exports of src/migrate.ts of a service with a schema. */
export interface ServiceMigration {
  schema: string;
  /** The migrations of the schema. */
  migrations: MigrationSource;
  /**
   * Migrates the schema; returns the names of applied migrations. `url` is that of the service's
   * own role.
   */
  migrateService: (options: { url: string }) => Promise<readonly string[]>;
}

/**
 * The program of a service as its own process: when forked, it sends
 * `{type: "ready", url, management_url}` once it answers, and ends with the process that forked it.
 */
export function programOf(name: DeployedService): string {
  return resolve(checkout, "services", name, "src/main.ts");
}

/** The services of this checkout, in the order of the table; `COFFER_CONSOLE=off` leaves the console out. */
export function presentServices({ console = "on" }: { console?: "on" | "off" } = {}): ServiceRow[] {
  return allServices.filter(({ name }) => existsSync(programOf(name)) && (name !== "console" || console === "on"));
}

/**
 * Loads the exports of a service for this process: `readConfig` from src/config.ts and `createService`
 * from src/service.ts.
 */
export async function loadService({ name }: ServiceRow): Promise<LoadedService> {
  const modules = await Promise.all([load(name, "config.ts"), load(name, "service.ts")]);
  return Object.assign({}, ...modules) as LoadedService; // the shape of every service
}

/** Loads only the migrations of a service. */
export async function loadMigration({ name }: ServiceRow): Promise<ServiceMigration> {
  return (await load(name, "migrate.ts")) as ServiceMigration; // the shape of every service with a schema
}

function load(name: DeployedService, file: string): Promise<unknown> {
  return import(pathToFileURL(resolve(checkout, "services", name, "src", file)).href);
}
