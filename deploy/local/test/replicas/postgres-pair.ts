import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Store, startPostgres, withoutDurability } from "@coffer/stores";
import { makeTestDirectory, removeTestDirectory, type TestScope, until } from "@coffer/testkit";
import pg from "pg";
import { type Gate, startGate } from "../../../chart/test/alerts/gate.ts";

export interface PostgresPair {
  /** The superuser's URL, which leads to the primary. */
  url: string;
  /** Kills the primary, promotes the standby, and lets the address lead to it. */
  failOver(): Promise<void>;
  /** After it, the control file of the promoted standby has the new timeline. Else it takes minutes. */
  checkpoint(): Promise<void>;
}

// Both processes are on one machine: what is written survives them. Commits wait for the standby.
const settings = { ...withoutDurability, synchronous_commit: "on", wal_level: "replica", max_wal_senders: 5 };

/** A primary and its synchronous standby behind one address, which leads to the primary. */
export async function postgresPair(t: TestScope): Promise<PostgresPair> {
  const [first, second] = [makeTestDirectory(), makeTestDirectory()];
  const running: Store[] = [];
  t.teardown(async () => {
    await Promise.all(running.map((store) => store.stop()));
    for (const directory of [first, second]) removeTestDirectory(directory);
  });
  const primary = await startPostgres({ directory: first, settings: { ...settings, wal_keep_size: "256MB" } });
  running.push(primary);
  const gate: Gate = await startGate(t, primary.url);

  await withClient(primary.url, async (client) => {
    await client.query("SELECT pg_backup_start('standby', true)");
    copyCluster(first, second);
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    writeInCluster(second, "backup_label", rows[0]?.labelfile ?? "");
    writeInCluster(second, "standby.signal", "");
  });
  const { hostname, port, username, password } = new URL(primary.url);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  const standby = await startPostgres({ directory: second, settings: { ...settings, primary_conninfo: conninfo } });
  running.push(standby);
  await withClient(primary.url, async (client) => {
    await client.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await client.query("SELECT pg_reload_conf()");
    await until("commits wait for the standby", async () => {
      const { rowCount } = await client.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rowCount === 1;
    });
  });
  return {
    url: gate.url,
    async failOver() {
      primary.kill();
      await primary.stop();
      await withClient(standby.url, (client) => client.query("SELECT pg_promote()"));
      gate.lead(standby.url);
    },
    checkpoint: async () => {
      await withClient(standby.url, (client) => client.query("CHECKPOINT"));
    },
  };
}

/** Copies a running cluster without its WAL, which the standby receives from the primary. */
function copyCluster(from: string, to: string): void {
  copyFileSync(join(from, "password"), join(to, "password"));
  const [source, target] = [join(from, "data"), join(to, "data")];
  const parts = readdirSync(source).filter((name) => !["pg_wal", "postmaster.pid", "postmaster.opts"].includes(name));
  mkdirSync(target, { mode: 0o700 });
  execFileSync("cp", ["--archive", ...parts.map((name) => join(source, name)), target]);
  mkdirSync(join(target, "pg_wal/archive_status"), { recursive: true, mode: 0o700 });
  ownAs(source, join(target, "pg_wal"));
}

function writeInCluster(directory: string, name: string, content: string): void {
  const path = join(directory, "data", name);
  writeFileSync(path, content, { mode: 0o600 });
  ownAs(join(directory, "data/PG_VERSION"), path);
}

function ownAs(model: string, path: string): void {
  const { uid, gid } = statSync(model);
  execFileSync("chown", ["--recursive", `${uid}:${gid}`, path]);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
