import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import type { DrillResult } from "../../src/store/restore-drills.ts";
import { draftsOf } from "../delivery/draft.ts";
import { startForwarder, startReplica, startStores } from "../forwarder.ts";

// The drill program itself, with one database as the running installation and as the restored copy.

const stores = await startStores(t);
const { postgres, append } = await startForwarder(t, stores);
const program = fileURLToPath(new URL("../../src/drill-main.ts", import.meta.url));
const directory = testDirectory(t);
const database = new pg.Client({ connectionString: postgres.url, options: "-c search_path=siem_forwarder" });
await database.connect();
t.teardown(() => database.end());

interface Outcome {
  status: number | null;
  result: Omit<DrillResult, "rows"> & { rows: Record<string, number> };
  stderr: string;
}

/** Runs a drill of a backup of that age. */
function drill({ hoursAgo = 1, schemas = ["siem_forwarder"] } = {}): Outcome {
  const file = join(directory, "drill.json");
  const moment = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
  const named = Object.fromEntries(schemas.map((schema) => [schema, {}]));
  writeFileSync(file, JSON.stringify({ created_at: moment(hoursAgo), started_at: moment(0.1), schemas: named }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--copy", postgres.url, "--drill", file], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], COFFER_POSTGRES_URL: postgres.url },
  });
  return { status, stderr, result: JSON.parse(stdout === "" ? "{}" : stdout) as Outcome["result"] };
}

/** The metrics of a replica that has just started, once they have these values. */
async function measured(expected: Record<string, number>): Promise<Record<string, number>> {
  const { registry } = await startReplica(t, stores);
  return until(`the metrics have ${JSON.stringify(expected)}`, async () => {
    const found = [
      ...(await registry.metrics()).matchAll(/^coffer_restore_drill_(\w+)\{service="siem-forwarder"\} (\S+)$/gm),
    ].map(([, name = "", value]) => [name, Number(value)] as const);
    const metrics = Object.fromEntries(found);
    return Object.entries(expected).every(([name, value]) => metrics[name] === value) && metrics;
  });
}

await t.test("before the first drill the metrics are there, and 0", async (t) => {
  const zero = { success_timestamp_seconds: 0, backup_timestamp_seconds: 0, duration_seconds: 0 };
  const all = { ...zero, chains: 0, rows: 0, failed: 0 };
  t.same(await measured(all), all);
});

await t.test("a whole copy: every chain is verified, rows are counted, and the metrics say so", async (t) => {
  const [many, few] = [randomUUID(), randomUUID()];
  // More than a page of one chain.
  await append(draftsOf(many, 700));
  await append(draftsOf(many, 700));
  await append(draftsOf(few, 3));
  const { status, result, stderr } = drill();
  t.equal(status, 0, stderr);
  t.match(result, { chains: 2, records: 1403, problem: null });
  // Records, chains, hours and migrations at least.
  t.ok((result.rows["siem_forwarder"] ?? 0) > 1403 + 2 + 2);
  const metrics = await measured({ chains: 2, failed: 0, rows: result.rows["siem_forwarder"] ?? 0 });
  const now = Date.now() / 1000;
  t.ok(Math.abs(now - 3600 - (metrics["backup_timestamp_seconds"] ?? 0)) < 60);
  t.ok(Math.abs(now - (metrics["success_timestamp_seconds"] ?? 0)) < 60);
  t.ok((metrics["duration_seconds"] ?? 0) >= 360);
});

await t.test("a copy that is not whole fails the drill, and is named", async (t) => {
  const found = await database.query<{ id: string }>("SELECT id FROM audit_chains WHERE seq = 1400");
  const id = found.rows[0]?.id ?? "";
  const cases: [statement: string, undo: string, problem: RegExp][] = [
    [
      `UPDATE audit_records SET record = replace(record::text, '"status":200', '"status":403')::json WHERE chain_id = '${id}' AND seq = 1234`,
      `UPDATE audit_records SET record = replace(record::text, '"status":403', '"status":200')::json WHERE chain_id = '${id}' AND seq = 1234`,
      new RegExp(`the audit chain ${id}: record 1234 is changed`),
    ],
    [
      `UPDATE audit_records SET chain_id = '${"f".repeat(8)}-ffff-4fff-8fff-${"f".repeat(12)}' WHERE chain_id = '${id}' AND seq = 1400`,
      `UPDATE audit_records SET chain_id = '${id}' WHERE seq = 1400`,
      /the audit chain ffffffff-ffff-4fff-8fff-ffffffffffff has records and no end/,
    ],
    [
      `UPDATE audit_chains SET seq = 1401 WHERE id = '${id}'`,
      `UPDATE audit_chains SET seq = 1400 WHERE id = '${id}'`,
      new RegExp(`the audit chain ${id} ends at 1400, and not at 1401`),
    ],
  ];
  for (const [statement, undo, problem] of cases) {
    await database.query(statement);
    const { status, result } = drill();
    t.equal(status, 1);
    t.match(result.problem, problem);
    t.ok(await measured({ failed: 1, chains: 2 }), "the newest success stays");
    await database.query(undo);
  }
  t.match(drill(), { status: 0 });
  t.ok(await measured({ failed: 0, chains: 2 }));
});

await t.test("a copy without a schema, or with fewer records than an earlier one, fails", async (t) => {
  t.match(drill({ schemas: ["siem_forwarder", "vaults"] }), {
    status: 1,
    result: { problem: /schema vaults has no table/ },
  });
  await database.query("UPDATE restore_drills SET records = 5000");
  t.match(drill(), { status: 1, result: { problem: "1403 audit records, and 5000 in the drill before" } });
  // An earlier backup may hold less.
  t.match(drill({ hoursAgo: 100 }), { status: 0 });
});

await t.test("failures of half a year do not remove the newest success", async (t) => {
  await database.query("UPDATE audit_chains SET hash = repeat('0', 64)");
  for (let runs = 0; runs < 30; runs += 1)
    await database.query(
      `INSERT INTO restore_drills (ended_at, backup_at, seconds, chains, records, rows, problem)
       VALUES (now(), now(), 1, 1, 1, 1, 'broken')`,
    );
  t.match(drill(), { status: 1 });
  const { rows } = await database.query("SELECT problem FROM restore_drills WHERE problem IS NULL");
  t.equal(rows.length, 1);
  const { rowCount } = await database.query("SELECT FROM restore_drills");
  t.equal(rowCount, 27);
});

await t.test("without the installation's address, or with other arguments, it says what it needs", (t) => {
  const run = (args: string[], env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [program, ...args], { encoding: "utf8", env: { PATH: process.env["PATH"], ...env } });
  t.match(run([], {}), { status: 2, stderr: /usage, with COFFER_POSTGRES_URL/ });
  t.match(run(["--copy", "x", "--drill", "y"], {}), { status: 1, stderr: /COFFER_POSTGRES_URL is required/ });
  t.end();
});

await t.test("a running replica shows the result of a drill without a restart", async (t) => {
  const { registry } = await startReplica(t, stores);
  await database.query("DELETE FROM restore_drills");
  const text = (): Promise<string> => registry.metrics();
  t.match(await text(), /coffer_restore_drill_failed\{service="siem-forwarder"\} 0/);
  t.match(drill(), { status: 1 });
  await until("the metric says so", async () => /coffer_restore_drill_failed\{[^}]*\} 1/.test(await text()), 30);
});
