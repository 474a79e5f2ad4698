import { randomBytes } from "node:crypto";
import { startRedis } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { testServer } from "./test-server.ts";

/** A Redis server of this test alone. It forgets everything when it ends, as a lost one does. */
export function testRedis(t: TestScope): Promise<TestServer> {
  const password = randomBytes(18).toString("base64url");
  return testServer(t, (directory, port) =>
    startRedis({ directory, password, ...(port === undefined ? {} : { port }) }),
  );
}
