import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { isAlive, serversIn, startPostgres, type Store, StoreError, temporaryDirectory } from "@coffer/stores";

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

let store: Store;
t.teardown(() => store.stop());

await t.test("the first start makes a cluster that requires its password", async (t) => {
  store = await startPostgres({ directory });
  await query(store.url, "CREATE TABLE things (id int)");
  await query(store.url, "INSERT INTO things VALUES (1)");
  const wrong = new URL(store.url);
  wrong.password = "wrong";
  await t.rejects(query(wrong.href, "SELECT 1"), { code: "28P01" });
  t.equal(statSync(join(directory, "password")).mode & 0o777, 0o600);
  t.equal(new URL(store.url).hostname, "127.0.0.1");
});

await t.test("it writes to disk before it confirms a commit", async (t) => {
  const rows = await query<{ fsync: string; synchronous_commit: string }>(
    store.url,
    "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit",
  );
  t.same(rows, [{ fsync: "on", synchronous_commit: "on" }]);
});

await t.test("a stop leaves no process and the next start has the data", async (t) => {
  const { pid } = store;
  await store.stop();
  t.notOk(isAlive(pid));
  t.same(serversIn(directory), []);
  store = await startPostgres({ directory });
  t.same(await query(store.url, "SELECT id FROM things"), [{ id: 1 }]);
});

await t.test("a kill is noticed, and earlier commits are there after the next start", async (t) => {
  await query(store.url, "INSERT INTO things VALUES (2)");
  const gone = new Promise<void>((resolve) => store.onExit(resolve));
  store.kill();
  await gone;
  const { port } = store;
  store = await startPostgres({ directory, port });
  t.equal(store.port, port);
  t.same(await query(store.url, "SELECT id FROM things ORDER BY id"), [{ id: 1 }, { id: 2 }]);
});

await t.test("a listener that is added after the end is called too", async (t) => {
  store.kill();
  await new Promise<void>((resolve) => store.onExit(resolve));
  await new Promise<void>((resolve) => store.onExit(resolve));
  await store.stop();
  t.same(serversIn(directory), []);
  store = await startPostgres({ directory });
});

await t.test(
  "a server that an earlier process left running, even one that hangs, is ended by the next start",
  async (t) => {
    await store.stop();
    const program = `
    import { startPostgres } from "@coffer/stores";
    const store = await startPostgres({ directory: ${JSON.stringify(directory)} });
    console.log(store.pid);
    setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(owner.stdout, "data")) as [Buffer];
    const orphan = Number(line.toString());
    process.kill(orphan, "SIGSTOP");
    owner.kill("SIGKILL");
    await once(owner, "exit");
    t.ok(isAlive(orphan), "it is still there");
    store = await startPostgres({ directory });
    t.notOk(isAlive(orphan), "the next start has ended it");
    t.same(await query(store.url, "SELECT count(*)::int AS n FROM things"), [{ n: 2 }]);
  },
);

await t.test("a port that is taken is named in one line", async (t) => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  await store.stop();
  await t.rejects(startPostgres({ directory, port }), new StoreError(`postgres: port ${port} is taken`));
  holder.close();
  store = await startPostgres({ directory });
});

await t.test("a setting that the server refuses is the reason that is given", async (t) => {
  await store.stop();
  await t.rejects(startPostgres({ directory, settings: { max_connections: "many" } }), {
    name: "StoreError",
    message: /^postgres did not start: .*max_connections/s,
  });
  t.match(readFileSync(join(directory, "log"), "utf8"), /max_connections/);
  store = await startPostgres({ directory });
});
