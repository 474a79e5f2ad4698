import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, locate, serverUser, startRedis, type Store } from "@coffer/stores";
import { makeTestDirectory, removeTestDirectory, type TestScope } from "@coffer/testkit";
import { reachableCommand } from "../../stores/src/reachable-programs.ts";
import { runServer } from "../../stores/src/run-server.ts";
import { writeServerFile } from "../../stores/src/server-user.ts";

export interface SentinelGroup {
  /** The URL of the Sentinels for this user. */
  urlOf(user: string, password: string): string;
  /** Of the user `default`. */
  password: string;
  primary: Store;
  replica: Store;
}

const name = "coffer";
const password = "the-password-of-the-owner";
// Copies go from memory to memory: the server may not write into its folder.
const replication = ["repl-diskless-sync yes", "repl-diskless-sync-delay 0", "repl-diskless-load swapdb"];

/** A primary, a replica, and three Sentinels that replace the primary half a second after its end. */
export async function sentinelGroup(t: TestScope, acl: (version: number) => readonly string[]): Promise<SentinelGroup> {
  const directory = makeTestDirectory();
  const running: Store[] = [];
  t.teardown(async () => {
    await Promise.all(running.map((store) => store.stop()));
    removeTestDirectory(directory);
  });
  const start = async (folder: string, settings: readonly string[]): Promise<Store> => {
    const all = [...replication, `masterauth ${password}`, ...settings];
    const store = await startRedis({ directory: join(directory, folder), password, acl, settings: all });
    running.push(store);
    return store;
  };
  const primary = await start("primary", []);
  const replica = await start("replica", [`replicaof 127.0.0.1 ${primary.port}`]);
  const ports = await Promise.all([1, 2, 3].map(() => freePort()));
  for (const port of ports) running.push(await startSentinel(join(directory, `sentinel-${port}`), port, primary.port));
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  return { password, primary, replica, urlOf: (user, secret) => `redis-sentinel://${user}:${secret}@${hosts}/${name}` };
}

async function startSentinel(folder: string, port: number, primaryPort: number): Promise<Store> {
  mkdirSync(folder, { mode: 0o755 });
  // A Sentinel writes its state into its configuration.
  const state = join(folder, "state");
  mkdirSync(state, { mode: 0o755 });
  const file = join(state, "sentinel.conf");
  const lines = [
    "bind 127.0.0.1",
    "daemonize no",
    `dir "${state}"`,
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
    `sentinel auth-pass ${name} ${password}`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 5000`,
  ];
  writeServerFile(file, `${lines.join("\n")}\n`);
  const user = serverUser();
  if (user !== null) chownSync(state, user.uid, user.gid);
  const program = reachableCommand(await locate("redis-server"), folder);
  return runServer({
    name: "redis-sentinel",
    directory: folder,
    logDirectory: folder,
    command: (chosen) => [...program, file, "--sentinel", "--port", String(chosen)],
    url: (chosen) => `redis://127.0.0.1:${chosen}`,
    port,
    ready: /\+monitor master/,
    taken: /Address already in use/i,
    stopSignal: "SIGTERM",
  });
}
