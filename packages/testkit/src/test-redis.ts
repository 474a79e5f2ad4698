import { randomBytes } from "node:crypto";
import { type ServiceName, serviceNames } from "@coffer/events";
import { redisAcl, redisUsers } from "@coffer/ratelimit";
import { startRedis } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { testServer } from "./test-server.ts";

export interface TestRedis extends TestServer {
  /** The URL of each service's own user; `url` is the owner's. */
  readonly urls: Record<ServiceName, string>;
}

/**
 * A Redis server of this test, with the users and permissions of an installation. It loses its data
 * when it ends.
 */
export async function testRedis(t: TestScope): Promise<TestRedis> {
  const password = (): string => randomBytes(18).toString("base64url");
  const owner = password();
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, password()])) as Record<ServiceName, string>; // one for each name
  const users = redisUsers(passwords);
  const acl = (version: number) => redisAcl({ users, ownerPassword: owner, version });
  const server = await testServer(t, (directory, port) =>
    startRedis({ directory, password: owner, acl, ...(port === undefined ? {} : { port }) }),
  );
  const { host } = new URL(server.url);
  const urls = Object.fromEntries(serviceNames.map((name) => [name, `redis://${name}:${passwords[name]}@${host}`]));
  return { ...server, urls: urls as TestRedis["urls"] }; // one for each name
}
