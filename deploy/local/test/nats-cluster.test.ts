import { testPostgres, testRedis } from "@coffer/testkit";
import t from "tap";
import { checkout } from "../src/checkout.ts";
import { startRecordLoad } from "./faults/record-load.ts";
import { natsCluster } from "./replicas/nats-cluster.ts";
import { migrate } from "./replicas/previous-version.ts";
import { openReplicas } from "./replicas/replicas.ts";
import { newDatabase, storesOf } from "./replicas/stores.ts";

await t.test("with three nodes of NATS, each may be killed under load", async (t) => {
  const [postgres, redis, nats] = await Promise.all([testPostgres(t, { own: true }), testRedis(t), natsCluster(t)]);
  const { url: databaseUrl, urls: postgresUrls } = await newDatabase(postgres.url);
  await migrate(checkout, postgresUrls);
  const replicas = await openReplicas(t, storesOf({ databaseUrl, postgresUrls, nats, redis }));
  await replicas.add({ services: ["auth-sm", "vaults", "sync", "siem-forwarder"] });
  const load = await startRecordLoad(t, { url: replicas.url, databaseUrl: () => databaseUrl });
  await load.progress();
  t.same(replicas.takeFailures(), []);
  for (const [at, node] of nats.nodes.entries()) {
    await node.kill();
    await load.progress();
    await load.pushesFlow();
    t.same(replicas.takeFailures(), [], `node ${at} is away`);
    await node.start();
  }
  t.same(load.violations(), []);
  const { lost, acknowledged } = await load.stop();
  t.same(lost, [], "every device has the acknowledged records");
  t.comment(`${acknowledged} writes acknowledged`);
});
