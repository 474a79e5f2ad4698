import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { serviceNames } from "@coffer/events";
import type { ServiceName } from "@coffer/events";
import { nodeFlags } from "@coffer/service";
import { startNats, startPostgres, startRedis } from "@coffer/stores";
import pg from "pg";

const services = resolve(import.meta.dirname, "../../../services");

/** Coffer as the benchmarks load it: each service a process of its own, behind a proxy that it trusts. */
export interface RunningCoffer {
  url: string;
  /** Where auth-sm shows its metrics. */
  managementUrl: string;
  /** An owner's address of the database, for filling it. */
  postgresUrl: string;
  /** Process ids, for CPU accounting; `all` is every one of them. */
  pids: { service: number[]; all: number[] };
  /** Starts one more process of a service, as a second replica. */
  /** Resolves when every audit record of auth-sm is in its chain: what a load has caused is then paid for. */
  settled(): Promise<void>;
  startAnother(name: ServiceToLoad): Promise<{ pid: number; stop(): Promise<void> }>;
  close(): Promise<void>;
}

type ServiceToLoad = "auth-sm" | "siem-forwarder";

interface Ready {
  type: "ready";
  url: string;
  management_url: string;
}

/** Starts the stores (Postgres with full durability) and the services that take part in reading a secret. */
export async function startCoffer(): Promise<RunningCoffer> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-bench-"));
  const undo: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const work of undo.reverse()) await work();
  };
  try {
    return { ...(await startIn(directory, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `undo` takes what ends each thing that was started, in that order. */
async function startIn(directory: string, undo: (() => unknown)[]): Promise<Omit<RunningCoffer, "close">> {
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
    Object.entries(passwords).map(([name, password]) => [name, { user: name, password }]),
  );

  const environment = {
    PATH: process.env["PATH"],
    NODE_ENV: "production",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    // For profiles: BENCH_NODE_OPTIONS="--cpu-prof --cpu-prof-dir=/tmp/profiles" npm run bench secret-read
    NODE_OPTIONS: process.env["BENCH_NODE_OPTIONS"] ?? "",
    COFFER_PORT: "0",
    COFFER_MANAGEMENT_PORT: "0",
    COFFER_BASE_URL: "http://coffer.test",
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(credentials),
    COFFER_REDIS_URL: redis.url,
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.1/32",
    COFFER_LOG_LEVEL: "warn",
  };
  const start = async (name: ServiceToLoad): Promise<RunningService> => {
    const service = await startService(name, environment);
    undo.push(() => service.stop());
    return service;
  };
  for (const name of ["auth-sm", "siem-forwarder"] as const) await migrate(name, postgres.url);
  const siemForwarder = await start("siem-forwarder");
  const authSm = await start("auth-sm");
  return {
    url: authSm.url,
    managementUrl: authSm.managementUrl,
    postgresUrl: postgres.url,
    pids: { service: [authSm.pid], all: [authSm.pid, siemForwarder.pid, postgres.pid, nats.pid, redis.pid] },
    settled: () => emptyOutbox(postgres.url),
    startAnother: start,
  };
}

async function emptyOutbox(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const waits = "SELECT FROM auth_sm.outbox LIMIT 1";
    while ((await client.query(waits)).rowCount !== 0) await pause(20);
  } finally {
    await client.end();
  }
}

interface RunningService {
  url: string;
  managementUrl: string;
  pid: number;
  stop: () => Promise<void>;
}

async function migrate(name: ServiceToLoad, url: string): Promise<void> {
  const { migrateService } = (await import(`${services}/${name}/src/migrate.ts`)) as {
    migrateService(options: { url: string }): Promise<unknown>; // what every service exports
  };
  await migrateService({ url });
}

async function startService(name: ServiceToLoad, env: NodeJS.ProcessEnv): Promise<RunningService> {
  const child = fork(`${services}/${name}/src/main.ts`, {
    execArgv: [...nodeFlags],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env,
  });
  const { url, management_url: managementUrl } = await new Promise<Ready>((resolveReady, reject) => {
    child.once("message", (message) => resolveReady(message as Ready)); // main.ts sends nothing else
    child.once("exit", (code) => reject(new Error(`${name} ended with code ${code ?? "none"} before it was ready`)));
  });
  return { url, managementUrl, pid: child.pid ?? 0, stop: () => stop(child) };
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
