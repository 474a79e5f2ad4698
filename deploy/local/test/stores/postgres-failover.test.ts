import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { checkout } from "../../src/checkout.ts";
import { startRecordLoad } from "../faults/record-load.ts";
import { migrate } from "../replicas/migrate.ts";
import { postgresPair } from "../replicas/postgres-pair.ts";
import { openReplicas } from "../replicas/replicas.ts";
import { testStores } from "../replicas/stores.ts";

await t.test("the primary is killed under load and its synchronous standby promoted: nothing is lost", async (t) => {
  const postgres = await postgresPair(t);
  const { stores, databaseUrl } = await testStores(t, { postgres });
  await migrate(checkout, stores.postgresUrls);
  const replicas = await openReplicas(t, stores);
  await replicas.add({ services: ["auth-sm", "vaults", "sync", "siem-forwarder"] });
  const load = await startRecordLoad(t, { url: replicas.url, databaseUrl: () => databaseUrl });
  await load.progress();
  t.equal(await timelineOfSync(databaseUrl), 1);

  const began = performance.now();
  await postgres.failOver();
  await load.progress();
  t.comment(`everyone goes on ${Math.round(performance.now() - began)} ms after the primary was killed`);
  t.same(replicas.takeFailures(), [], "requests are answered 503 meanwhile, and not otherwise");
  await postgres.checkpoint();
  await until("devices get everything once more", async () => (await timelineOfSync(databaseUrl)) === 2, 60);
  await load.progress();
  t.same(replicas.takeFailures(), [], "then none is");
  await load.pushesFlow();
  t.same(load.violations(), []);
  const { lost, acknowledged } = await load.stop();
  t.same(lost, [], "every device has the acknowledged records");
  t.comment(`${acknowledged} writes acknowledged`);
});

/** The timeline of Postgres to which the moments of devices belong. */
async function timelineOfSync(databaseUrl: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ timeline: number }>("SELECT timeline FROM vaults.sync_epoch");
  await client.end();
  return rows[0]?.timeline;
}
