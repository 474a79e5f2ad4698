import type { PipelinedConnection, Statement } from "@coffer/postgres";

/** A row of the outbox. */
export interface OutboxRow {
  position: number;
  subject: string;
  /** JSON text. */
  payload: string;
  attempts: number;
}

/** Rows of one lane, locked until `finish`; other relays skip them. */
export interface OutboxRows {
  /** Opens a transaction and locks the oldest due rows from position `from`, at most `limit`. */
  take(subjects: readonly string[], { limit, from }: { limit: number; from: number }): Promise<OutboxRow[]>;
  /**
   * Deletes delivered rows, schedules retries of failed rows, divides rows of several records, and
   * commits.
   */
  finish(outcome: BatchOutcome): Promise<void>;
  /** Rolls back. */
  release(): Promise<void>;
}

/** The result for the locked rows; rows in no list are not changed. */
export interface BatchOutcome {
  /** Positions, as in `divide`. */
  delivered: readonly number[];
  failed: readonly FailedRow[];
  /** Rows whose payload is an array: each element becomes its own row, an array of one. */
  divide: readonly number[];
}

export interface FailedRow {
  position: number;
  problem: string;
  /** Until the retry. */
  waitSeconds: number;
}

const begin: Statement = { name: "relay_begin", text: "begin" };
const commit: Statement = { name: "relay_commit", text: "commit" };
const rollback: Statement = { name: "relay_rollback", text: "rollback" };
const take: Statement = {
  name: "relay_take",
  text: `select position, subject, payload::text as payload, attempts from outbox
         where lane = $1 and position >= $4 and subject = any ($2::text[]) and (not_before is null or not_before <= now())
         order by position limit $3 for update skip locked`,
};
const remove: Statement = {
  name: "relay_remove",
  text: "delete from outbox where lane = $1 and position = any ($2::bigint[])",
};
const fail: Statement = {
  name: "relay_fail",
  text: `update outbox
         set attempts = attempts + 1, problem = failed.problem,
             not_before = clock_timestamp() + make_interval(secs => failed.wait)
         from unnest($2::bigint[], $3::text[], $4::float8[]) as failed (position, problem, wait)
         where outbox.lane = $1 and outbox.position = failed.position`,
};

const divideRows: Statement = {
  name: "relay_divide",
  text: `with whole as (
           delete from outbox where lane = $1 and position = any ($2::bigint[])
           returning position, subject, id, payload, created_at
         )
         insert into outbox (lane, subject, id, payload, created_at)
         select $1::text, whole.subject, whole.id, json_build_array(part.value), whole.created_at
         from whole cross join json_array_elements(whole.payload) with ordinality as part (value, number)
         order by whole.position, part.number`,
};

/** The rows of `lane`, over its own connection. Throws translated errors. */
export function outboxRows(connection: PipelinedConnection, lane: string): OutboxRows {
  return {
    async take(subjects, { limit, from }) {
      // Pipelined: two statements, one round trip.
      const [, rows] = await all([connection.query(begin, []), connection.query(take, [lane, subjects, limit, from])]);
      // The columns are those of `take`.
      return rows as OutboxRow[];
    },
    async finish({ delivered, failed, divide }) {
      await all([
        ...(delivered.length === 0 ? [] : [connection.query(remove, [lane, delivered])]),
        ...(failed.length === 0
          ? []
          : [
              connection.query(fail, [
                lane,
                failed.map(({ position }) => position),
                failed.map(({ problem }) => problem),
                failed.map(({ waitSeconds }) => waitSeconds),
              ]),
            ]),
        ...(divide.length === 0 ? [] : [connection.query(divideRows, [lane, divide])]),
        connection.query(commit, []),
      ]);
    },
    async release() {
      await connection.query(rollback, []);
    },
  };
}

/** Waits for every response, then throws the first failure. */
async function all<Answer>(answers: readonly Promise<Answer>[]): Promise<Answer[]> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}
