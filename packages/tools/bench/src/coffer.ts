import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import { nodeFlags } from "@coffer/service";
import { generateSigningKey, type SigningKey } from "@coffer/tokens";
import { startNats, startPostgres, startRedis, temporaryDirectory } from "@coffer/stores";
import pg from "pg";

const services = resolve(import.meta.dirname, "../../../../services");

/** The base address in tokens. */
export const audience = "http://coffer.test";

/** Seals the credentials of the benchmarks' SIEM endpoints. */
export const siemKey = Buffer.alloc(32, 1).toString("base64url");

/** The services of a suite; the cost of the first one counts as the service's. */
export type LoadedServices =
  | readonly ["siem-forwarder"]
  | readonly ["auth-sm", "siem-forwarder"]
  | readonly ["vaults", "auth-sm", "siem-forwarder", "sync"];

/** Coffer as the benchmarks load it: each service in its own process, behind a trusted proxy. */
export interface RunningCoffer {
  /** The URL of the first service, and of each. */
  url: string;
  urls: Readonly<Partial<Record<ServiceName, string>>>;
  /** Process ids of each service. */
  servicePids: Readonly<Partial<Record<ServiceName, number>>>;
  /** The owner's URL of the database, to fill it. */
  postgresUrl: string;
  /** Process ids, for CPU accounting; `all` has all of them. */
  pids: { service: number[]; all: number[] };
  /** The Redis of the limiter. */
  redisUrl: string;
  /** Signs access tokens that every service accepts. */
  signingKey: SigningKey;
  natsUrl: string;
  /** Connects to NATS as a service. */
  natsCredentials: Readonly<Record<ServiceName, { user: string; password: string }>>;
  /** Resolves when every audit record of the first service is in its chain, so that the load is complete. */
  drained(): Promise<void>;
  /** Starts another process of a service, as a second replica. */
  startAnother(name: ServiceName): Promise<RunningService>;
  close(): Promise<void>;
}

/** Starts the stores (Postgres with full durability) and the services that are loaded. */
export async function startCoffer(names: LoadedServices): Promise<RunningCoffer> {
  const directory = temporaryDirectory("coffer-bench-");
  const undo: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const work of undo.reverse()) await work();
  };
  try {
    return { ...(await startIn(names, directory, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `undo` collects functions that end each started part, in that order. */
async function startIn(
  names: LoadedServices,
  directory: string,
  undo: (() => unknown)[],
): Promise<Omit<RunningCoffer, "close">> {
  const postgres = await startPostgres({ directory: join(directory, "postgres") });
  undo.push(() => postgres.stop());
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, randomHex(16)])) as Record<
    ServiceName,
    string
  >; // one for each name
  const nats = await startNats({
    directory: join(directory, "nats"),
    config: natsServerConfig({ users: natsUsers(passwords), host: "127.0.0.1", port: 4222, maxPayload: 1024 * 1024 }),
  });
  undo.push(() => nats.stop());
  const redis = await startRedis({ directory: join(directory, "redis"), password: randomHex(16) });
  undo.push(() => redis.stop());
  const credentials = Object.fromEntries(
    serviceNames.map((name) => [name, { user: name, password: passwords[name] }]),
  ) as RunningCoffer["natsCredentials"]; // one for each name

  const environment = {
    PATH: process.env["PATH"],
    NODE_ENV: "production",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    // For profiles: BENCH_NODE_OPTIONS="--cpu-prof --cpu-prof-dir=/tmp/profiles" npm run bench secret-read
    NODE_OPTIONS: process.env["BENCH_NODE_OPTIONS"] ?? "",
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_BASE_URL: audience,
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(credentials),
    COFFER_REDIS_URL: redis.url,
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    COFFER_SIEM_KEYS: siemKey,
    COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.1/32",
    COFFER_LOG_LEVEL: "warn",
    // The load writes more than a usual installation.
    COFFER_QUOTA_SECRETS: "1000000000",
    COFFER_QUOTA_RECORDS: "1000000000",
    COFFER_QUOTA_MIB: "1000000000",
    // Its devices share a few sessions.
    COFFER_LIMIT_SOCKETS_SESSION: "1000000",
    COFFER_LIMIT_SOCKETS_USER: "1000000",
  };
  const start = async (name: ServiceName): Promise<RunningService> => {
    const service = await startService(name, environment);
    undo.push(() => service.stop());
    return service;
  };
  for (const name of names) if (name !== "sync") await migrate(name, postgres.url);
  const signingKey = await (names[0] === "siem-forwarder" ? generateSigningKey() : installSigningKey(postgres.url));
  const started = new Map<ServiceName, RunningService>();
  // In reverse order: services start after those that they call.
  for (const name of names.toReversed()) started.set(name, await start(name));
  const [first] = names;
  const servicePids = Object.fromEntries(Array.from(started, ([name, { pid }]) => [name, pid]));
  const pidOfFirst = servicePids[first] ?? 0;
  return {
    url: started.get(first)?.url ?? "",
    urls: Object.fromEntries(Array.from(started, ([name, { url }]) => [name, url])),
    servicePids,
    postgresUrl: postgres.url,
    redisUrl: redis.url,
    signingKey,
    natsUrl: nats.url,
    natsCredentials: credentials,
    pids: { service: [pidOfFirst], all: [...Object.values(servicePids), postgres.pid, nats.pid, redis.pid] },
    drained: () => emptyOutbox(postgres.url, first),
    startAnother: start,
  };
}

/** Gives auth-sm, which has not started yet, a known key. */
async function installSigningKey(url: string): Promise<SigningKey> {
  const key = await generateSigningKey();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      "INSERT INTO auth_sm.signing_keys (kid, private_jwk, public_jwk, created_at) VALUES ($1, $2, $3, now())",
      [key.kid, key.privateJwk, key.publicJwk],
    );
    return key;
  } finally {
    await client.end();
  }
}

async function emptyOutbox(url: string, service: ServiceName): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const waits = `SELECT FROM ${service.replace("-", "_")}.outbox LIMIT 1`;
    while ((await client.query(waits)).rowCount !== 0) await pause(20);
  } finally {
    await client.end();
  }
}

interface RunningService {
  url: string;
  pid: number;
  stop(): Promise<void>;
  /** As a failing machine would. */
  kill(): void;
}

async function migrate(name: ServiceName, url: string): Promise<void> {
  const { migrateService } = (await import(`${services}/${name}/src/migrate.ts`)) as {
    migrateService(options: { url: string }): Promise<unknown>; // exported by every service
  };
  await migrateService({ url });
}

async function startService(name: ServiceName, env: NodeJS.ProcessEnv): Promise<RunningService> {
  const child = fork(`${services}/${name}/src/main.ts`, {
    execArgv: [...nodeFlags],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env,
  });
  const { url } = await new Promise<{ url: string }>((resolveReady, reject) => {
    child.once("message", (message) => resolveReady(message as { url: string })); // main.ts sends nothing else
    child.once("exit", (code) => reject(new Error(`${name} ended with code ${code ?? "none"} before it was ready`)));
  });
  return { url, pid: child.pid ?? 0, stop: () => stop(child), kill: () => child.kill("SIGKILL") };
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolveStop) => {
    child.once("exit", () => resolveStop());
    if (child.exitCode !== null || child.signalCode !== null) resolveStop();
    else child.kill("SIGTERM");
  });
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
