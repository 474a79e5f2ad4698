import pg from "pg";
import type { ServiceName } from "@coffer/events";
import type { RunState } from "../../src/run-file.ts";
import { type Started, until } from "../npm-start.ts";

export type StoreName = keyof RunState["store_pids"];

/** Kills a service like a crash, and waits until another process replaces it. */
export async function killService(coffer: Started, name: ServiceName): Promise<void> {
  const pid = coffer.state().services[name]?.pid ?? 0;
  process.kill(pid, "SIGKILL");
  await until(() => ![undefined, pid].includes(coffer.state().services[name]?.pid));
}

/** As `killService` for a store that `npm start` started. */
export async function killStore(coffer: Started, name: StoreName): Promise<void> {
  const pid = coffer.state().store_pids[name] ?? 0;
  process.kill(pid, "SIGKILL");
  await until(() => ![undefined, pid].includes(coffer.state().store_pids[name]));
}

/** Stops every process of Postgres, until the services notice that it does not answer. */
export async function stallPostgres(coffer: Started): Promise<void> {
  await withPostgres(coffer, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
    );
    const pids = [coffer.state().store_pids.postgres ?? 0, ...rows.map(({ pid }) => pid)];
    try {
      for (const pid of pids) signal(pid, "SIGSTOP");
      await until(async () => !(await isReady(coffer)));
    } finally {
      for (const pid of pids) signal(pid, "SIGCONT");
    }
  });
}

export interface Hold {
  table: string;
  /** In mode `SHARE` only writers of the table wait. */
  mode: "ACCESS EXCLUSIVE" | "SHARE";
  /** The number of waiters before anything else happens. */
  waiting: number;
}

/**
 * Locks a table like a slow transaction, until a statement waits for it; runs `meanwhile` before
 * the release.
 */
export async function holdTable(coffer: Started, hold: Hold, meanwhile: () => Promise<void>): Promise<void> {
  const { table, mode, waiting } = hold;
  await withPostgres(coffer, async (client) => {
    await client.query("BEGIN");
    await client.query(`LOCK TABLE ${table} IN ${mode} MODE`);
    const waiters = "SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass";
    await until(async () => ((await client.query(waiters, [table])).rowCount ?? 0) >= waiting);
    await meanwhile();
    await client.query("ROLLBACK");
  });
}

/** Whether everything is ready, and nothing degraded. */
export async function isReady(coffer: Started): Promise<boolean> {
  try {
    const answer = await fetch(`${coffer.state().management_url}/readyz`);
    return ((await answer.json()) as { status: string }).status === "ready";
  } catch {
    return false;
  }
}

/** Waits until all audit records are in the chain. */
export async function settled(coffer: Started): Promise<void> {
  await withPostgres(coffer, async (client) => {
    await until(async () => (await client.query("SELECT FROM auth_sm.outbox LIMIT 1")).rowCount === 0);
  });
}

async function withPostgres(coffer: Started, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: coffer.state().stores.postgres });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** One that has ended meanwhile needs no signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
