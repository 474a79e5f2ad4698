import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import t from "tap";
import {
  sharedPostgresVariable,
  testDirectory,
  testNats,
  testPostgres,
  testRedis,
  testRootVariable,
  until,
} from "@coffer/testkit";

// Everything is below this folder, so that leftovers can be found.
const root = testDirectory(t);
process.env[testRootVariable] = root;

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Logs in to a NATS server and returns its reply to a publish. */
async function publish(url: string, { user, password }: { user: string; password: string }, subject: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(
    `CONNECT ${JSON.stringify({ user, pass: password, verbose: false })}\r\nPUB ${subject} 2\r\nhi\r\nPING\r\n`,
  );
  let said = "";
  for await (const chunk of socket) {
    said += String(chunk);
    if (said.includes("PONG") || said.includes("-ERR 'Auth")) break;
  }
  socket.destroy();
  return said;
}

await t.test("two databases of one test share nothing", async (t) => {
  const [one, other] = await Promise.all([testPostgres(t), testPostgres(t)]);
  await query(one.url, "CREATE TABLE here (id int)");
  await query(other.url, "CREATE TABLE here (id int)");
  t.not(one.url, other.url);
});

await t.test("a database is gone after its test, also with an open connection", async (t) => {
  const outer = await testPostgres(t);
  let name = "";
  let gone: Promise<unknown> = Promise.resolve();
  await t.test("inner", async (t) => {
    const { url } = await testPostgres(t);
    name = new URL(url).pathname.slice(1);
    const inside = new pg.Client({ connectionString: url });
    await inside.connect();
    gone = once(inside, "error").then(() => inside.end());
  });
  await gone;
  t.same(await query(outer.url, `SELECT datname FROM pg_database WHERE datname = '${name}'`), []);
});

await t.test("without a shared server the file has its own one while a test needs it", async (t) => {
  const shared = process.env[sharedPostgresVariable];
  t.teardown(() => {
    if (shared !== undefined) process.env[sharedPostgresVariable] = shared;
  });
  Reflect.deleteProperty(process.env, sharedPostgresVariable);
  await t.test("while it is used", async (t) => {
    const [one, other] = await Promise.all([testPostgres(t), testPostgres(t)]);
    t.equal(new URL(one.url).port, new URL(other.url).port);
    t.equal(readdirSync(root).length, 1);
  });
  t.same(readdirSync(root), []);
});

await t.test("a Postgres of one's own may be stopped, killed and started again on its address", async (t) => {
  const server = await testPostgres(t, { own: true });
  await query(server.url, "CREATE TABLE things (id int)");
  await server.kill();
  await t.rejects(query(server.url, "SELECT 1"), { code: "ECONNREFUSED" });
  await server.start();
  t.same(await query(server.url, "SELECT * FROM things"), []);
  await server.stop();
  await t.rejects(query(server.url, "SELECT 1"), { code: "ECONNREFUSED" });
});

await t.test("Redis loses its data at a restart", async (t) => {
  const server = await testRedis(t);
  const read = async (): Promise<string | null> => {
    const client = new Redis(server.url);
    const value = await client.get("key");
    await client.set("key", "value");
    client.disconnect();
    return value;
  };
  t.equal(await read(), null);
  t.equal(await read(), "value");
  await server.kill();
  await server.start();
  t.equal(await read(), null);
});

await t.test("NATS has a user for each service, with that service's permissions", async (t) => {
  const { url, credentials } = await testNats(t);
  const subject = "coffer.evt.session.revoked";
  t.match(await publish(url, credentials["auth-sm"], subject), /PONG/);
  t.notMatch(await publish(url, credentials["auth-sm"], subject), /Permissions Violation/);
  t.match(await publish(url, credentials.scanner, subject), /Permissions Violation for Publish/);
  t.match(await publish(url, { user: "auth-sm", password: "wrong" }, subject), /Authorization Violation/);
});

await t.test("a folder is removed with its test", async (t) => {
  let folder = "";
  await t.test("inner", (t) => {
    folder = testDirectory(t);
    writeFileSync(join(folder, "file"), "");
    t.end();
  });
  t.notOk(existsSync(folder));
});

await t.test("nothing of it is left", (t) => {
  t.same(readdirSync(root), []);
  t.end();
});

await t.test("until returns the first value, and reports a timeout with its name", async (t) => {
  const answers = [undefined, null, false, 0];
  t.equal(await until("there is an answer", () => Promise.resolve(answers.shift())), 0);
  t.equal(answers.length, 0);
  await t.rejects(
    until("pigs fly", () => false, 0.05),
    { message: "waited 0.05 s in vain until pigs fly" },
  );
  await t.rejects(
    until("it works", () => Promise.reject(new Error("broken"))),
    { message: "broken" },
    "an error of the read is thrown at once",
  );
});
