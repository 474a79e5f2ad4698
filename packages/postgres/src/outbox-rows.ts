import type { Line, Statement } from "./line.ts";

/** A message that waits, as the relay reads it. */
export interface OutboxRow {
  position: number;
  subject: string;
  /** JSON text. */
  payload: string;
  attempts: number;
}

/** Rows of one lane, locked until `finish`: no other relay sees them meanwhile. */
export interface OutboxRows {
  /** Opens a transaction and locks the oldest rows that are due, at most `limit`, of those from position `from` on. */
  take(subjects: readonly string[], { limit, from }: { limit: number; from: number }): Promise<OutboxRow[]>;
  /** Deletes what was delivered, notes what failed for its own sake, divides rows of several records, and commits. */
  finish(settlement: Settlement): Promise<void>;
  /** Leaves everything as it was. */
  release(): Promise<void>;
}

/** What to do with the rows that were taken; those in no list stay as they are. */
export interface Settlement {
  /** Positions, as in `divide`. */
  delivered: readonly number[];
  failed: readonly FailedRow[];
  /** Rows whose payload is an array: each of its elements gets a row of its own, an array of one. */
  divide: readonly number[];
}

export interface FailedRow {
  position: number;
  problem: string;
  /** Until it is tried again. */
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

/** The rows of `lane`, over a line that nobody else uses. Everything throws translated errors. */
export function outboxRows(line: Line, lane: string): OutboxRows {
  return {
    async take(subjects, { limit, from }) {
      // Sent together: two statements, one round trip.
      const [, rows] = await all([line.query(begin, []), line.query(take, [lane, subjects, limit, from])]);
      // The columns are those of `take`.
      return rows as OutboxRow[];
    },
    async finish({ delivered, failed, divide }) {
      await all([
        ...(delivered.length === 0 ? [] : [line.query(remove, [lane, delivered])]),
        ...(failed.length === 0
          ? []
          : [
              line.query(fail, [
                lane,
                failed.map(({ position }) => position),
                failed.map(({ problem }) => problem),
                failed.map(({ waitSeconds }) => waitSeconds),
              ]),
            ]),
        ...(divide.length === 0 ? [] : [line.query(divideRows, [lane, divide])]),
        line.query(commit, []),
      ]);
    },
    async release() {
      await line.query(rollback, []);
    },
  };
}

/** Waits for every answer, then throws the first that failed: nothing is left under way. */
async function all<Answer>(answers: readonly Promise<Answer>[]): Promise<Answer[]> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}
