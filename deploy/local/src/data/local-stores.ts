import { existsSync } from "node:fs";
import { join } from "node:path";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import type { BusCredentials } from "@coffer/env";
import { redisAcl, redisUsers } from "@coffer/ratelimit";
import {
  locate,
  type NeededProgram,
  prepareDatabase,
  requireServers,
  type SchemaOwner,
  startNats,
  startPostgres,
  startRedis,
} from "@coffer/stores";
import type { Installation } from "./installation.ts";
import { superviseStore, type SupervisedStore } from "./supervise-store.ts";
import { allServices, onBus } from "../services/services.ts";
import type { Settings } from "../settings.ts";
import { StartupError } from "../startup-error.ts";

export interface LocalStores {
  /** The owner's URLs; null without Redis. */
  urls: { postgres: string; nats: string; redis: string | null };
  /** The URL of each service's own role, by role. */
  postgresUrls: Record<string, string>;
  natsCredentials: Partial<Record<ServiceName, BusCredentials>>;
  /** The URL of each service's own user, or `none`; of a given Redis, its URL for each. */
  redisUrls: Record<ServiceName, string>;
  /** The processes that were started here. */
  pids(): Partial<Record<"postgres" | "nats" | "redis", number>>;
  stop(): Promise<void>;
}

export interface StoreOptions {
  settings: Settings;
  /** The folder of the stores' files. */
  directory: string;
  installation: Installation;
  report: (line: string) => void;
  onRestart: () => void;
}

const databaseName = "coffer";
/** The value of COFFER_REDIS_URL for an installation without Redis. */
const withoutRedis = "none";
const maxPayloadBytes = 1024 * 1024;

/**
 * Starts the stores that the settings do not name, concurrently, and prepares roles and schemas. If one
 * cannot be started, ends the others and throws its error (StoreError, StartupError).
 */
export async function startStores(options: StoreOptions): Promise<LocalStores> {
  const { settings, installation } = options;
  const redisUrl = await findServers(options);
  const running: Partial<Record<"postgres" | "nats" | "redis", SupervisedStore>> = {};
  const stop = async (): Promise<void> => {
    await Promise.all(Object.values(running).map((store) => store.stop()));
  };
  const startUnless = async (
    name: keyof typeof running,
    given: string | undefined,
    start: () => Promise<SupervisedStore>,
  ) => given ?? (running[name] = await start()).url;
  const started = await Promise.allSettled([
    startUnless("postgres", settings.COFFER_POSTGRES_URL, () => postgres(options)),
    startUnless("nats", settings.COFFER_NATS_URL, () => nats(options)),
    startUnless("redis", redisUrl, () => redis(options)),
  ]);
  try {
    const [postgresUrl = "", natsUrl = "", ownRedis = ""] = started.map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
    const own = settings.COFFER_POSTGRES_URL === undefined ? { database: databaseName } : {};
    const database = await prepareDatabase({
      url: postgresUrl,
      owners: schemaOwners(installation),
      extensions: ["pg_trgm"],
      ...own,
    }).catch((cause: unknown) => {
      throw new StartupError(`Postgres: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    });
    return {
      urls: { postgres: database.url, nats: natsUrl, redis: ownRedis === withoutRedis ? null : ownRedis },
      postgresUrls: database.urls,
      redisUrls: redisUrl === undefined ? redisUrlsOf(ownRedis, installation) : sameForAll(redisUrl),
      natsCredentials: settings.COFFER_NATS_CREDENTIALS ?? credentialsOf(installation),
      pids: () => Object.fromEntries(Object.entries(running).map(([name, store]) => [name, store.pid])),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The role of each service that has a schema, which owns it. */
export function schemaOwners({ postgres: passwords }: Pick<Installation, "postgres">): SchemaOwner[] {
  return onBus(allServices).flatMap(({ name, schema }) =>
    schema === null ? [] : [{ role: schema, schema, password: passwords[name] }],
  );
}

/**
 * Finds the programs of all stores to start, and reports all missing ones at once. Returns the URL of the
 * Redis to use; undefined for one to start. Throws StoreError, StartupError.
 */
async function findServers({ settings, report }: StoreOptions): Promise<string | undefined> {
  const { COFFER_POSTGRES_URL: postgresUrl, COFFER_NATS_URL: natsUrl, COFFER_REDIS_URL: redisUrl } = settings;
  const oneProcess = settings.COFFER_PROCESSES === "one";
  if (redisUrl === withoutRedis && !oneProcess)
    throw new StartupError("COFFER_REDIS_URL=none needs COFFER_PROCESSES=one: several processes count in Redis");
  const needed: NeededProgram[] = [
    ...(postgresUrl === undefined ? (["postgres"] as const) : []),
    ...(natsUrl === undefined ? (["nats-server"] as const) : []),
    ...(redisUrl === undefined ? (["redis-server"] as const) : []),
  ];
  const missing = await requireServers(needed, { report, optional: oneProcess ? ["redis-server"] : [] });
  if (redisUrl !== undefined || missing.length === 0) return redisUrl;
  report("no Redis was found: this one process counts requests by itself; COFFER_PROCESSES=separate needs one");
  return withoutRedis;
}

function postgres({ directory: place, report, onRestart }: StoreOptions): Promise<SupervisedStore> {
  const directory = join(place, "postgres");
  report(existsSync(join(directory, "data")) ? "starting Postgres" : "making the Postgres data directory");
  const start = (port: number | undefined) => startPostgres({ directory, ...(port === undefined ? {} : { port }) });
  return superviseStore({ name: "Postgres", start, report, onRestart });
}

async function nats({ directory, installation, report, onRestart }: StoreOptions): Promise<SupervisedStore> {
  const command = await locate("nats-server", { report });
  const users = natsUsers(installation.nats);
  const start = (port: number | undefined) =>
    startNats({
      directory: join(directory, "nats"),
      config: natsServerConfig({ users, host: "127.0.0.1", port: port ?? 4222, maxPayload: maxPayloadBytes }),
      command,
      ...(port === undefined ? {} : { port }),
    });
  return superviseStore({ name: "NATS", start, report, onRestart });
}

async function redis({ directory, installation, report, onRestart }: StoreOptions): Promise<SupervisedStore> {
  const command = await locate("redis-server", { report });
  const start = (port: number | undefined) =>
    startRedis({
      directory: join(directory, "redis"),
      password: installation.redis.owner,
      acl: (version) =>
        redisAcl({ users: redisUsers(installation.redis), ownerPassword: installation.redis.owner, version }),
      command,
      ...(port === undefined ? {} : { port }),
    });
  return superviseStore({ name: "Redis", start, report, onRestart });
}

function sameForAll(url: string): Record<ServiceName, string> {
  return Object.fromEntries(serviceNames.map((name) => [name, url])) as Record<ServiceName, string>; // one for each name
}

function redisUrlsOf(owner: string, { redis: passwords }: Installation): Record<ServiceName, string> {
  const urlOf = (name: ServiceName): string => {
    const url = new URL(owner);
    url.username = name;
    url.password = passwords[name];
    return url.href;
  };
  return Object.fromEntries(serviceNames.map((name) => [name, urlOf(name)])) as Record<ServiceName, string>; // one for each name
}

function credentialsOf(installation: Installation): Record<ServiceName, BusCredentials> {
  return Object.fromEntries(
    serviceNames.map((name) => [name, { user: name, password: installation.nats[name] }]),
  ) as Record<ServiceName, BusCredentials>; // one entry for each name
}
