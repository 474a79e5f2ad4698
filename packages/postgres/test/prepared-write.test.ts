import { randomUUID } from "node:crypto";
import { auditAppend, sessionRevoked } from "@coffer/events";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { laneOf, outboxColumns, outboxValues } from "@coffer/outbox";
import { briefly, briefWaits, QueryFailure, sql } from "../src/index.ts";
import { freshDatabase } from "./support.ts";
import { z } from "zod";

const { url } = await testPostgres(t);

await t.test(
  "a prepared write leaves messages for several consumers, and says so when it returned a row",
  async (t) => {
    const { database } = await freshDatabase(t, url);
    const woken: string[][] = [];
    database.onCommit((lanes) => void woken.push([...lanes]));
    const text = `WITH enqueued AS (
      INSERT INTO outbox (${outboxColumns})
      SELECT message.* FROM (SELECT WHERE $1::boolean) AS wanted CROSS JOIN LATERAL (VALUES
        ${outboxValues(sessionRevoked, { id: "$2", payload: "$3" })},
        ${outboxValues(auditAppend, { id: "$4", payload: "json_build_array($3::json)" })}
      ) AS message (${outboxColumns})
      RETURNING id
    ) SELECT 1 AS done WHERE $1::boolean`;
    const write = database.preparedWrite<{ done: number }>("write-and-enqueue", text, {
      announces: laneOf(sessionRevoked),
    });
    const [event, record] = [randomUUID(), randomUUID()];
    t.same(await write([false, event, '{"a":1}', record]), []);
    t.same(woken, [], "nothing was left");
    t.same(await write([true, event, '{"a":1}', record]), [{ done: 1 }]);
    t.same(woken, [["event"]]);
    const row = z.object({ lane: z.string(), subject: z.string(), id: z.string(), payload: z.unknown() });
    const rows = await database.pool.any(sql.type(row)`SELECT lane, subject, id, payload FROM outbox ORDER BY lane`);
    t.same(rows, [
      { lane: "event", subject: sessionRevoked.subject, id: event, payload: { a: 1 } },
      { lane: "siem-forwarder", subject: auditAppend.subject, id: record, payload: [{ a: 1 }] },
    ]);
  },
);

await t.test("a write without a message does not wake the relay", async (t) => {
  const { database } = await freshDatabase(t, url);
  let woken = 0;
  database.onCommit(() => (woken += 1));
  const write = database.preparedWrite<{ done: number }>("write-only", "SELECT 1 AS done");
  t.same(await write([]), [{ done: 1 }]);
  t.equal(woken, 0);
});

const codeOf = (error: unknown) => (error instanceof QueryFailure ? error.code : error);

/** Adds $2 to the counters $1. */
const adding = `
  WITH requested AS (
    SELECT *, ${briefWaits} FROM unnest($1::int[], $2::int[]) WITH ORDINALITY AS calls (id, by, n)
  )
  UPDATE counters SET value = value + requested.by FROM requested WHERE counters.id = requested.id
  RETURNING requested.n::integer AS n, counters.value, pg_current_xact_id()::text AS transaction`;

interface Added {
  value: number;
  transaction: string;
}

async function counters(t: Parameters<typeof freshDatabase>[0]) {
  const { database, schema } = await freshDatabase(t, url);
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(`CREATE TABLE counters (id int PRIMARY KEY, value int NOT NULL CHECK (value < 100));
    INSERT INTO counters SELECT id, 0 FROM generate_series(1, 5) AS id`);
  const values = async () => {
    const { rows } = await client.query<{ value: number }>("SELECT value FROM counters ORDER BY id");
    return rows.map(({ value }) => value);
  };
  return { database, client, values };
}

await t.test("concurrent writes share a commit, which wakes the relay once", async (t) => {
  const { database, values } = await counters(t);
  let woken = 0;
  database.onCommit(() => (woken += 1));
  const add = database.preparedWriteEach<Added>("add-each", adding, { announces: laneOf(sessionRevoked) });
  const done = await Promise.all([1, 2, 3, 9].map((id) => add([id, 10 * id])));
  t.match(done, [{ value: 10 }, { value: 20 }, { value: 30 }, null]);
  t.equal(new Set(done.slice(0, 3).map((each) => each?.transaction)).size, 1);
  t.same(await values(), [10, 20, 30, 0, 0]);
  t.equal(woken, 1);
});

await t.test("a refused or timed-out write does not affect others", async (t) => {
  const { database, client, values } = await counters(t);
  const add = briefly(database.preparedWriteEach<Added>("add-each", adding), null);
  await client.query("BEGIN; SELECT FROM counters WHERE id = 2 FOR UPDATE");
  const calls = [
    [1, 1],
    [2, 1],
    [3, 100],
    [4, 1],
  ];
  const done = await Promise.all(calls.map((each) => add(each).catch(codeOf)));
  t.match(done, [{ value: 1 }, null, "23514", { value: 1 }]);
  await client.query("COMMIT");
  t.same(await values(), [1, 0, 0, 1, 0]);
});
