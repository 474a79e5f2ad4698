import { randomBytes } from "node:crypto";
import { type ServiceName, serviceNames } from "@coffer/events";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type NatsServer, startNats } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { testServer } from "./test-server.ts";

export interface TestNats extends TestServer {
  readonly credentials: Record<ServiceName, { user: string; password: string }>;
}

export interface ReloadableNats extends TestNats {
  /** Gives the running server another configuration file. */
  reload(config: string): void;
}

export interface TestNatsOptions {
  /** A configuration file instead of the one with a user per service. */
  config?: string;
}

/** A NATS server of this test, with the users and permissions of an installation. */
export async function testNats(t: TestScope, options: TestNatsOptions = {}): Promise<ReloadableNats> {
  const passwords = Object.fromEntries(
    serviceNames.map((name) => [name, randomBytes(18).toString("base64url")]),
  ) as Record<ServiceName, string>; // made from the list of names
  const users = natsUsers(passwords);
  const config = options.config ?? natsServerConfig({ users, host: "127.0.0.1", port: 4222, maxPayload: 1024 * 1024 });
  let running: NatsServer | undefined;
  const server = await testServer(t, async (directory, port) => {
    running = await startNats({ directory, config, ...(port === undefined ? {} : { port }) });
    return running;
  });
  const credentials = Object.fromEntries(
    serviceNames.map((name) => [name, { user: name, password: passwords[name] }]),
  ) as TestNats["credentials"];
  return { ...server, credentials, reload: (next) => running?.reload(next) };
}
