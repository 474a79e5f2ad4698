import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgresBinaries } from "./postgres-binaries.ts";
import { clearAfterCrash, makeCluster } from "./postgres-cluster.ts";
import { endServersIn } from "./processes.ts";
import { reachableBinaries } from "./reachable-programs.ts";
import { runServer } from "./run-server.ts";
import { serverUser } from "./server-user.ts";
import { openStoreDirectory } from "./store-directory.ts";
import type { Store } from "./store.ts";

export interface PostgresOptions {
  /**
   * Belongs to this server alone; created if missing. Holds `data` (the cluster), `password` (0600) and
   * `log`. A server of an earlier run in it is ended first.
   */
  directory: string;
  /** A free one by default. */
  port?: number;
  /** Settings of postgresql.conf, by name. */
  settings?: Record<string, string | number>;
}

/** Settings for servers whose data may be lost with them: no write waits for a disk. */
export const withoutDurability = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: 0,
  shared_buffers: "32MB",
} as const;

const defaults = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 200,
  // Files below the data directory instead of /dev/shm, so that a kill -9 leaves nothing there.
  dynamic_shared_memory_type: "mmap",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %q%u@%d ",
  jit: "off",
};

/**
 * Starts Postgres on 127.0.0.1 with the superuser `postgres`; the cluster is made at the first start. Throws
 * StoreError.
 */
export async function startPostgres({ directory, port, settings = {} }: PostgresOptions): Promise<Store> {
  const here = openStoreDirectory(directory);
  const data = join(here, "data");
  await endServersIn(here);
  clearAfterCrash(data);
  const binaries = reachableBinaries(await postgresBinaries(), here);
  const password = passwordOf(here);
  if (!existsSync(data))
    await makeCluster(binaries, { directory: here, password, durable: settings["fsync"] !== "off" });
  const user = serverUser();
  if (user !== null) chownSync(data, user.uid, user.gid);
  const options = Object.entries({ ...defaults, ...settings }).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  return runServer({
    name: "postgres",
    directory: data,
    logDirectory: here,
    command: (chosen) => [binaries.postgres, "-D", data, "-p", String(chosen), ...options],
    url: (chosen) => `postgres://postgres:${password}@127.0.0.1:${chosen}/postgres`,
    port,
    ready: /database system is ready to accept (read-only )?connections/,
    taken: /could not bind IPv4 address|Address already in use/,
    stopSignal: "SIGINT",
    afterExit: async () => {
      await endServersIn(here);
      clearAfterCrash(data);
    },
  });
}

function passwordOf(directory: string): string {
  const file = join(directory, "password");
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
  chmodSync(file, 0o600);
  return readFileSync(file, "utf8").trim();
}
