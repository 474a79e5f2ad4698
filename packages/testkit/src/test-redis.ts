import { randomBytes } from "node:crypto";
import { serviceNames } from "@coffer/events";
import type { ServiceName } from "@coffer/events";
import { redisAcl, redisUsers } from "@coffer/ratelimit";
import { startRedis } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { testServer } from "./test-server.ts";

export interface TestRedis extends TestServer {
  /** The address of each service's own user; `url` is the owner's. */
  readonly urls: Record<ServiceName, string>;
}

/**
 * A Redis server of this test alone, with the users and permissions that every installation has. It forgets everything
 * when it ends, as a lost one does.
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
