import { randomUUID } from "node:crypto";
import { auditAppend, sessionRevoked } from "@coffer/events";
import { testPostgres } from "@coffer/testkit";
import t from "tap";
import { outboxColumns, outboxValues, sql } from "../src/index.ts";
import { freshDatabase } from "./support.ts";
import { z } from "zod";

const { url } = await testPostgres(t);

await t.test(
  "a prepared write leaves messages for several consumers, and says so when it returned a row",
  async (t) => {
    const { database } = await freshDatabase(t, url);
    const woken: string[][] = [];
    database.onCommit((lanes) => void woken.push([...lanes]));
    const text = `WITH told AS (
      INSERT INTO outbox (${outboxColumns})
      SELECT message.* FROM (SELECT WHERE $1::boolean) AS wanted CROSS JOIN LATERAL (VALUES
        ${outboxValues(sessionRevoked, { id: "$2", payload: "$3" })},
        ${outboxValues(auditAppend, { id: "$4", payload: "json_build_array($3::json)" })}
      ) AS message (${outboxColumns})
      RETURNING id
    ) SELECT 1 AS done WHERE $1::boolean`;
    const write = database.preparedWrite<{ done: number }>("write-and-tell", text, { leaves: sessionRevoked });
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

await t.test("one that leaves nothing that is awaited wakes nobody", async (t) => {
  const { database } = await freshDatabase(t, url);
  let woken = 0;
  database.onCommit(() => (woken += 1));
  const write = database.preparedWrite<{ done: number }>("write-only", "SELECT 1 AS done");
  t.same(await write([]), [{ done: 1 }]);
  t.equal(woken, 0);
});
