import { createTelemetry } from "@coffer/telemetry";
import { createDatabase } from "@coffer/postgres";
import { testPostgres, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { migrateService } from "../../src/migrate.ts";
import { observeWatermark } from "../../src/sync/watermark-age.ts";

// A separate server: transactions of other tests would count.
const { url } = await testPostgres(t, { own: true });
await migrateService({ url });
const telemetry = createTelemetry({ service: "vaults", level: "silent" });
const database = createDatabase({ url, schema: "vaults", telemetry });
t.teardown(() => database.close());
observeWatermark({ database, telemetry });

async function age(): Promise<number> {
  const metric = telemetry.metrics.registry.getSingleMetric("coffer_sync_tick_age_seconds");
  const { values = [] } = (await metric?.get()) ?? {};
  return values[0]?.value ?? -1;
}

await t.test("the age grows while a transaction hangs, in any database, and ends with it", async (t) => {
  await until("nothing else is under way", async () => (await age()) === 0);
  const elsewhere = new URL(url);
  elsewhere.pathname = "/postgres";
  const hanging = new pg.Client({ connectionString: elsewhere.href });
  await hanging.connect();
  await hanging.query("BEGIN; SELECT pg_current_xact_id()");
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  await writer.query("SELECT pg_current_xact_id()");
  const early = await until("it is held", async () => {
    const measured = await age();
    return measured > 0 ? measured : null;
  });
  t.ok((await age()) > early);
  await hanging.query("ROLLBACK");
  await Promise.all([hanging.end(), writer.end()]);
  await until("it moves again", async () => (await age()) === 0);
});

await t.test("a reader does not hold the watermark", async (t) => {
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1");
  await until("nothing is held", async () => (await age()) === 0 && (await age()) === 0);
  await reader.query("ROLLBACK");
  await reader.end();
  t.pass();
});
