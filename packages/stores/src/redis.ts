import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { filled, imageVersion } from "./docker.ts";
import { openProgram } from "./open-program.ts";
import { runServer } from "./run-server.ts";
import { asServerUser, writeServerFile } from "./server-user.ts";
import { type Store, StoreError } from "./store.ts";

export interface RedisOptions {
  /** Belongs to this server alone; created if missing. A server of an earlier run in it is ended first. */
  directory: string;
  /** A free one by default. */
  port?: number;
  /** Of the user `default`. Without one, each client that reaches the port may use the server. */
  password?: string;
  /**
   * The configuration lines that define the users, including `default`, for a server of this major
   * version. Without it there is only the user `default`.
   */
  acl?: (version: number) => readonly string[];
  /** Further lines of the configuration. */
  settings?: readonly string[];
  /** The result of `locate`; called here by default. */
  command?: string[];
}

/** Starts a Redis (or Valkey) server on 127.0.0.1 that writes nothing to disk. Throws StoreError. */
export async function startRedis({
  directory,
  port,
  password,
  acl,
  settings = [],
  command,
}: RedisOptions): Promise<Store> {
  const { here, program, contained, plan } = await openProgram("redis-server", { directory, command });
  const file = join(here, "redis.conf");
  const users = acl?.(contained ? imageVersion : versionOf(program)) ?? ownerOnly(password);
  writeServerFile(file, configuration(here, [...users, ...settings], contained));
  const credentials = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  return runServer({
    ...plan,
    command: (chosen) => filled([...program, file, "--port", String(chosen)], here, chosen),
    url: (chosen) => `redis://${credentials}127.0.0.1:${chosen}`,
    port,
    ready: /Ready to accept connections/i,
    taken: /Address already in use|port is already allocated/i,
    stopSignal: "SIGTERM",
  });
}

/** The major version of a Redis or Valkey server. Throws StoreError. */
function versionOf(command: readonly string[]): number {
  const [program = "", ...rest] = asServerUser(command);
  const { stdout } = spawnSync(program, [...rest, "--version"], { encoding: "utf8", timeout: 10_000 });
  const major = / v=(\d+)\./.exec(stdout)?.[1];
  if (major === undefined)
    throw new StoreError(`${command.at(-1) ?? "redis-server"} does not say which version of Redis it is`);
  return Number(major);
}

function ownerOnly(password: string | undefined): string[] {
  return password === undefined ? [] : [`requirepass "${password.replace(/["\\]/g, "\\$&")}"`];
}

function configuration(directory: string, more: readonly string[], contained: boolean): string {
  const lines = [
    `bind ${contained ? "0.0.0.0" : "127.0.0.1"}`,
    `protected-mode ${contained ? "no" : "yes"}`,
    `dir "${directory}"`,
    'save ""',
    "appendonly no",
    "daemonize no",
    "always-show-logo no",
    "set-proc-title no",
    "shutdown-timeout 0",
    ...more,
    "",
  ];
  return lines.join("\n");
}
