import { randomUUID } from "node:crypto";
import { createAuditLog, createDatabase, deliverOver, enqueueAudit, migrate, startRelay } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { draftOf } from "./draft.ts";
import { startForwarder, startStores } from "./forwarder.ts";
import { until } from "./until.ts";

const { postgres, people, listAll } = await startForwarder(t, await startStores(t));

await t.test("a record that no chain can hold does not keep back those around it", async (t) => {
  const schema = "sender";
  await migrate({ url: postgres.url, schema });
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: postgres.url, schema, telemetry });
  t.teardown(() => database.close());
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
