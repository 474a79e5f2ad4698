import { randomUUID } from "node:crypto";
import { sessionRevoked } from "@coffer/events";
import { testPostgres } from "@coffer/testkit";
import t from "tap";
import { sql } from "@coffer/postgres";
import { listWaiting } from "../src/index.ts";
import { nameOf, send } from "./relaying.ts";
import { freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

void t.test("waiting messages are listed newest first, without parked ones and those of another version", async (t) => {
  const { database } = await freshDatabase(t, url);
  const names = async (limit: number) => (await listWaiting(database.pool, sessionRevoked, limit)).map(nameOf);
  t.same(await names(10), []);
  await send(database, "parked", "1", "2", "failed", "3");
  const attempts = (name: string, count: number) =>
    database.pool.query(sql.typeAlias("void")`
      update outbox set attempts = ${count} where payload ->> 'session_id' = ${name}`);
  await attempts("parked", 5);
  await attempts("failed", 4);
  await database.pool.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    values ('event', ${randomUUID()}, ${sessionRevoked.subject}, '{"of": "a newer version"}'),
      ('event', ${randomUUID()}, 'coffer.evt.newer.thing', '{}')`);
  t.same(await names(10), ["3", "failed", "2", "1"]);
  t.same(await names(3), ["3", "failed"], "the first of them is none that is understood");
  await send(database, "4");
  t.same(await names(1), ["4"]);
});
