import { randomBytes } from "node:crypto";
import pg from "pg";
import { startPostgres, type Store, withoutDurability } from "@coffer/stores";
import type { TestScope, TestServer } from "./scope.ts";
import { makeTestDirectory, removeTestDirectory } from "./test-directory.ts";
import { testServer } from "./test-server.ts";

/** Names a server that the whole suite shares; set by `npm test`. */
export const sharedPostgresVariable = "COFFER_TEST_POSTGRES_URL";

export interface TestDatabase {
  /** A superuser's address of a fresh, empty database. */
  readonly url: string;
}

/** A fresh database, dropped with the test: on the suite's server, or on one for this file. */
export function testPostgres(t: TestScope): Promise<TestDatabase>;
/** A fresh database on a server of this test, which it may stop, kill and start again. */
export function testPostgres(t: TestScope, options: { own: true }): Promise<TestDatabase & TestServer>;
export async function testPostgres(t: TestScope, options: { own?: boolean } = {}): Promise<TestDatabase> {
  if (options.own === true) {
    // Acknowledged data survives a kill of the server: the system has it.
    const settings = { ...withoutDurability, synchronous_commit: "on" };
    return testServer(t, (directory, port) =>
      startPostgres({ directory, settings, ...(port === undefined ? {} : { port }) }),
    );
  }
  const shared = process.env[sharedPostgresVariable];
  const server = shared ?? (await holdServerOfThisFile());
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  t.teardown(async () => {
    await execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    if (shared === undefined) await releaseServerOfThisFile();
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href };
}

interface FileServer {
  directory: string;
  store: Promise<Store>;
  holders: number;
}

let fileServer: FileServer | null = null;

async function holdServerOfThisFile(): Promise<string> {
  if (fileServer === null) {
    const directory = makeTestDirectory();
    fileServer = { directory, store: startPostgres({ directory, settings: withoutDurability }), holders: 0 };
  }
  fileServer.holders += 1;
  return (await fileServer.store).url;
}

async function releaseServerOfThisFile(): Promise<void> {
  if (fileServer === null) return;
  fileServer.holders -= 1;
  if (fileServer.holders > 0) return;
  const { directory, store } = fileServer;
  fileServer = null;
  await (await store).stop();
  removeTestDirectory(directory);
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
