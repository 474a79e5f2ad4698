import pg from "pg";
import type { TestScope } from "./scope.ts";
import { until } from "./until.ts";

/** A service's outbox whose inserts can be delayed: it is the last table of nearly every write. */
export interface HeldOutbox {
  /** Resolves when all messages are delivered. */
  drained(): Promise<void>;
  /** Sends a request, runs `meanwhile` while its insert waits, and returns its response. */
  whileRecording<Answer>(request: () => Promise<Answer>, meanwhile: () => Promise<unknown>): Promise<Answer>;
  /** Resolves when the waiting statement has timed out. */
  waitedInVain(): Promise<void>;
}

const lock = 4711;

/**
 * Prepares the table `outbox` of a schema. `url` connects as a role that owns it and sees all
 * sessions.
 */
export async function holdOutbox(t: TestScope, { url, schema }: { url: string; schema: string }): Promise<HeldOutbox> {
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  t.teardown(() => blocker.end());
  await blocker.query(
    `CREATE FUNCTION ${schema}.wait() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN NEW; END $$;
     CREATE TRIGGER wait BEFORE INSERT ON ${schema}.outbox FOR EACH ROW EXECUTE FUNCTION ${schema}.wait()`,
  );

  /** The start times of the waiting statements. */
  const waiting = async (): Promise<string[]> => {
    const { rows } = await blocker.query<{ began: string }>(
      `SELECT query_start::text AS began FROM pg_stat_activity JOIN pg_locks USING (pid)
       WHERE locktype = 'advisory' AND objid = ${lock} AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.map(({ began }) => began);
  };

  return {
    drained: async () => {
      const isEmpty = async (): Promise<boolean> =>
        (await blocker.query(`SELECT FROM ${schema}.outbox LIMIT 1`)).rowCount === 0;
      await until("the outbox is empty", isEmpty);
    },
    whileRecording: async (request, meanwhile) => {
      await blocker.query(`SELECT pg_advisory_lock(${lock})`);
      try {
        const answer = request();
        await until("the request waits", async () => (await waiting()).length > 0);
        await meanwhile();
        await blocker.query(`SELECT pg_advisory_unlock(${lock})`);
        return await answer;
      } finally {
        await blocker.query("SELECT pg_advisory_unlock_all()");
      }
    },
    waitedInVain: async () => {
      const [first] = await waiting();
      await until("it gives up", async () => first === undefined || !(await waiting()).includes(first));
    },
  };
}
