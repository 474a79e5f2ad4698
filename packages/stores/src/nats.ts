import { join } from "node:path";
import { endContainer, filled, isDocker } from "./docker.ts";
import { locate } from "./locate.ts";
import { endServersIn } from "./processes.ts";
import { reachableCommand } from "./reachable-programs.ts";
import { runServer } from "./run-server.ts";
import { writeServerFile } from "./server-user.ts";
import { openStoreDirectory } from "./store-directory.ts";
import type { Store } from "./store.ts";

export interface NatsOptions {
  /** Belongs to this server alone; made when missing. What an earlier run left running in it is ended first. */
  directory: string;
  /** The text of the server's configuration file. Address and port are given on the command line, which wins. */
  config: string;
  /** A free one when missing. */
  port?: number;
  /** What `locate` answered; asked here when missing. */
  command?: string[];
}

/** Starts a NATS server on 127.0.0.1. The URL holds no credentials. Throws StoreError. */
export async function startNats({ directory, config, port, command }: NatsOptions): Promise<Store> {
  const here = openStoreDirectory(directory);
  const located = command ?? (await locate("nats-server"));
  const contained = isDocker(located);
  const clear = (): Promise<void> => {
    if (contained) endContainer(located, here);
    return endServersIn(here);
  };
  await clear();
  const program = contained ? located : reachableCommand(located, here);
  const file = join(here, "nats.conf");
  writeServerFile(file, config);
  const host = contained ? "0.0.0.0" : "127.0.0.1";
  return runServer({
    name: "nats-server",
    directory: here,
    logDirectory: here,
    command: (chosen) => filled([...program, "-c", file, "-a", host, "-p", String(chosen)], here, chosen),
    url: (chosen) => `nats://127.0.0.1:${chosen}`,
    port,
    ready: /Server is ready/,
    taken: /address already in use|port is already allocated/,
    stopSignal: "SIGTERM",
    afterExit: clear,
    contained,
    ...(contained ? { onKill: () => endContainer(program, here) } : {}),
  });
}
