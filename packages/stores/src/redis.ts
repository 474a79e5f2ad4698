import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endContainer, filled, isDocker } from "./docker.ts";
import { locate } from "./locate.ts";
import { endServersIn } from "./processes.ts";
import { runServer } from "./run-server.ts";
import type { Store } from "./store.ts";

export interface RedisOptions {
  /** Belongs to this server alone; made when missing. What an earlier run left running in it is ended first. */
  directory: string;
  /** A free one when missing. */
  port?: number;
  /** Without one, whoever reaches the port may use it. */
  password?: string;
  /** What `locate` answered; asked here when missing. */
  command?: string[];
}

/** Starts a Redis (or Valkey) server on 127.0.0.1 that keeps nothing on disk. Throws StoreError. */
export async function startRedis({ directory, port, password, command }: RedisOptions): Promise<Store> {
  mkdirSync(directory, { recursive: true });
  const here = realpathSync(directory);
  const program = command ?? (await locate("redis-server"));
  const contained = isDocker(program);
  const clear = (): Promise<void> => {
    if (contained) endContainer(program, here);
    return endServersIn(here);
  };
  await clear();
  const file = join(here, "redis.conf");
  writeFileSync(file, configuration(here, password, contained), { mode: 0o600 });
  chmodSync(file, 0o600);
  const credentials = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  return runServer({
    name: "redis-server",
    directory: here,
    logDirectory: here,
    command: (chosen) => filled([...program, file, "--port", String(chosen)], here, chosen),
    url: (chosen) => `redis://${credentials}127.0.0.1:${chosen}`,
    port,
    ready: /Ready to accept connections/i,
    taken: /Address already in use|port is already allocated/i,
    stopSignal: "SIGTERM",
    afterExit: clear,
    ...(contained ? { onKill: () => endContainer(program, here) } : {}),
  });
}

function configuration(directory: string, password: string | undefined, contained: boolean): string {
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
    ...(password === undefined ? [] : [`requirepass "${password.replace(/["\\]/g, "\\$&")}"`]),
    "",
  ];
  return lines.join("\n");
}
