import { join } from "node:path";
import { filled } from "./docker.ts";
import { openProgram } from "./open-program.ts";
import { runServer } from "./run-server.ts";
import { writeServerFile } from "./server-user.ts";
import { type Store, StoreError } from "./store.ts";

export interface NatsOptions {
  /** Belongs to this server alone; created if missing. A server of an earlier run in it is ended first. */
  directory: string;
  /** The configuration file. Address and port are given on the command line, which takes precedence. */
  config: string;
  /** A free one by default. */
  port?: number;
  /** The result of `locate`; called here by default. */
  command?: string[];
}

export interface NatsServer extends Store {
  /**
   * Gives it another configuration file; connections of users that are still in it stay. Throws
   * StoreError in a container.
   */
  reload(config: string): void;
}

/** Starts a NATS server on 127.0.0.1. The URL holds no credentials. Throws StoreError. */
export async function startNats({ directory, config, port, command }: NatsOptions): Promise<NatsServer> {
  const { here, program, contained, plan } = await openProgram("nats-server", { directory, command });
  const file = join(here, "nats.conf");
  writeServerFile(file, config);
  const host = contained ? "0.0.0.0" : "127.0.0.1";
  const server = await runServer({
    ...plan,
    command: (chosen) => filled([...program, "-c", file, "-a", host, "-p", String(chosen)], here, chosen),
    url: (chosen) => `nats://127.0.0.1:${chosen}`,
    port,
    ready: /Server is ready/,
    taken: /address already in use|port is already allocated/,
    stopSignal: "SIGTERM",
  });
  return {
    ...server,
    reload(next) {
      if (contained) throw new StoreError("a NATS server in a container is not reloaded from here");
      writeServerFile(file, next);
      process.kill(server.pid, "SIGHUP");
    },
  };
}
