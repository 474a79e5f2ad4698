import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { migrate, sql } from "@coffer/postgres";
import { buildService, createServiceBase, readServiceConfig } from "@coffer/service";
import { startPostgres } from "@coffer/stores";
import { Registry } from "@coffer/telemetry";
import { testDirectory, testNats, testRedis, until } from "@coffer/testkit";
import t from "tap";

// Postgres on a disk of 512 MiB that is filled up. A tmpfs needs the rights of root.

const directory = testDirectory(t);
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=512m", "tmpfs", directory], { encoding: "utf8" });
const skip = mounted.status === 0 ? false : `no small disk: ${mounted.stderr || String(mounted.error?.message)}`;
if (mounted.status === 0) t.teardown(() => void spawnSync("umount", ["--lazy", directory]));

const ballast = join(directory, "ballast");

/** Fills the disk to its last block. */
function fillDisk(): void {
  const file = openSync(ballast, "w");
  try {
    for (const size of [1 << 20, 4096]) {
      const block = Buffer.alloc(size);
      try {
        while (writeSync(file, block) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

await t.test("on a full disk reads work, and readiness and a metric say that writes do not", { skip }, async (t) => {
  const [nats, redis] = await Promise.all([testNats(t), testRedis(t)]);
  const postgres = await startPostgres({ directory: join(directory, "postgres"), settings: { fsync: "off" } });
  t.teardown(() => postgres.stop());
  const config = readServiceConfig("vaults", {
    COFFER_PORT: "0",
    COFFER_BASE_URL: "https://coffer.test",
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.url,
    COFFER_LOG_LEVEL: "fatal",
  });
  const migrations = { files: [{ name: "0001_first.sql", text: "create table kept (data text)" }] };
  await migrate({ url: postgres.url, schema: "vaults", ...migrations });
  const registry = new Registry();
  const base = createServiceBase({ name: "vaults", config, schema: "vaults", migrations, shared: { registry } });
  const service = buildService(base, { routes: [], deps: {}, close: () => Promise.resolve() });
  t.teardown(() => service.close());
  const { pool } = base.database;
  const read = () => pool.exists(sql.typeAlias("void")`SELECT FROM kept`);
  /** More than the table has room for. */
  const write = () =>
    pool.query(sql.typeAlias("void")`INSERT INTO kept SELECT md5(n::text) FROM generate_series(1, 5000) n`);
  const writable = async () => (await registry.getSingleMetricAsString("coffer_db_writable")).trim().split("\n").at(-1);

  await write();
  await until("it is ready", async () => (await service.ready()).degraded === false);
  t.match(await service.ready(), { ready: true, checks: { postgres: "ok" } });
  t.equal(await writable(), 'coffer_db_writable{service="vaults"} 1');

  fillDisk();
  t.equal(statfsSync(directory).bavail, 0);
  await t.rejects(write(), { code: "unavailable" });
  t.equal(await read(), true);
  t.match(await service.ready(), { ready: true, degraded: true, checks: { postgres: "disk full" } });
  t.equal(await writable(), 'coffer_db_writable{service="vaults"} 0');

  await t.test("an idle service notices it by itself", async (t) => {
    const idleRegistry = new Registry();
    const idle = createServiceBase({
      name: "vaults",
      config,
      schema: "vaults",
      migrations,
      shared: { registry: idleRegistry },
    });
    const other = buildService(idle, { routes: [], deps: {}, close: () => Promise.resolve() });
    t.teardown(() => other.close());
    t.match(await other.ready(), { ready: true, degraded: true, checks: { postgres: "disk full" } });
  });

  rmSync(ballast);
  await write();
  await until("it is well again without a restart", async () => (await service.ready()).degraded === false, 30);
  t.equal(await writable(), 'coffer_db_writable{service="vaults"} 1');
});

await t.test("a server that only reads, such as a standby that the address leads to, is named", { skip }, async (t) => {
  const postgres = await startPostgres({
    directory: join(directory, "reading"),
    settings: { fsync: "off", default_transaction_read_only: "on" },
  });
  t.teardown(() => postgres.stop());
  const { createDatabase } = await import("@coffer/postgres");
  const { createTelemetry } = await import("@coffer/telemetry");
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const database = createDatabase({ url: postgres.url, schema: "public", telemetry });
  t.teardown(() => database.close());
  t.equal(await database.writeState(), "read only");
});
