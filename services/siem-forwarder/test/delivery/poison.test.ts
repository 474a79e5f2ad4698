import { randomUUID } from "node:crypto";
import { createAuditLog, deliverOver, enqueueAudit, outboxMigrations, startRelay } from "@coffer/outbox";
import { createDatabase, migrate, sql } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import type { Test } from "tap";
import { until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { draftOf } from "./draft.ts";
import { startForwarder, startStores } from "../forwarder.ts";

const { postgres, people, listAll } = await startForwarder(t, await startStores(t));

/** The database of a service that sends audit records. */
async function startSender(t: Test, schema: string) {
  await migrate({ url: postgres.url, schema, packages: { outbox: outboxMigrations } });
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: postgres.url, schema, telemetry });
  t.teardown(() => database.close());
  return { database, telemetry };
}

await t.test("a record that no chain can hold does not keep back those around it", async (t) => {
  const { database, telemetry } = await startSender(t, "sender");
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const misfit = draftOf("acme");
  const drafts = Array.from({ length: 9 }, () => draftOf(orgId));

  await database.transaction(async (tx) => {
    for (const draft of drafts.slice(0, 4)) await enqueueAudit(tx, draft);
    await enqueueAudit(tx, misfit);
    for (const draft of drafts.slice(4, 8)) await enqueueAudit(tx, draft);
  });
  const relay = startRelay({ database, deliver: deliverOver(people.bus), telemetry });
  t.teardown(() => relay.close());
  await until("the eight are stored", async () => (await listAll(owner)).length === 8);
  for (const draft of drafts.slice(8)) await createAuditLog(database)(draft);
  await until("and what comes later", async () => (await listAll(owner)).length === 9);
  t.same(
    (await listAll(owner)).map(({ id }) => id),
    drafts.map(({ id }) => id),
    "in their order",
  );
});

await t.test("nor those that were written in one go with it, and the chain has each of them once", async (t) => {
  const { database, telemetry } = await startSender(t, "crowded_sender");
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const drafts = Array.from({ length: 9 }, () => draftOf(orgId));
  const misfit = { ...draftOf(orgId), actor: { type: "client", id: "a\0b" } as const };
  const audit = createAuditLog(database);
  await Promise.all([...drafts.slice(0, 4), misfit, ...drafts.slice(4)].map((draft) => audit(draft)));
  const rowCount = sql.type(z.object({ count: z.number() }))`SELECT count(*) FROM outbox`;
  t.equal(await database.pool.oneFirst(rowCount), 1, "one row for all of them");
  const relay = startRelay({ database, deliver: deliverOver(people.bus), telemetry });
  t.teardown(() => relay.close());
  await until("the others are stored", async () => (await listAll(owner)).length === drafts.length);
  t.same(
    (await listAll(owner)).map(({ id, seq }) => ({ id, seq })),
    drafts.map(({ id }, index) => ({ id, seq: index + 1 })),
  );
});
