import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import t from "tap";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { sql } from "@coffer/postgres";
import { enqueueAudit, startRelay } from "../src/index.ts";
import { auditDraft, freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);
const child = fileURLToPath(new URL("relay-child.ts", import.meta.url));

void t.test("a relay that is killed between delivery and delete delivers again, through another", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  const records = [auditDraft(), auditDraft(), auditDraft()];
  await database.transaction(async (tx) => {
    for (const record of records) await enqueueAudit(tx, record);
  });
  const killed = fork(child, [url, schema, "held"], { serialization: "advanced" });
  t.teardown(() => killed.kill("SIGKILL"));
  const [first] = (await once(killed, "message")) as [unknown];
  t.same(first, records, "the consumer has them");

  const again: unknown[] = [];
  const relay = startRelay({
    database,
    telemetry: database.telemetry,
    deliver: (_, payloads) => {
      again.push(...payloads);
      return Promise.resolve();
    },
  });
  t.teardown(() => relay.close());
  await database.transaction((tx) => enqueueAudit(tx, auditDraft({ id: "00000000-0000-4000-8000-000000000000" })));
  await until("the other relay works", () => again.length > 0);
  t.equal(again.length, 1, "while the first lives, its rows are its own");

  killed.kill("SIGKILL");
  await once(killed, "exit");
  await until("they are delivered again", () => again.length === 4);
  t.same(again.slice(1), records);
  const count = sql.type(z.object({ n: z.number() }))`select count(*) as n from outbox`;
  await until("the outbox is empty", async () => (await database.pool.oneFirst(count)) === 0);
});
