import t from "tap";
import { checkout } from "../../src/checkout.ts";
import { startRecordLoad } from "../faults/record-load.ts";
import { migrate } from "../replicas/migrate.ts";
import { natsCluster } from "../replicas/nats-cluster.ts";
import { openReplicas } from "../replicas/replicas.ts";
import { testStores } from "../replicas/stores.ts";

await t.test("with three nodes of NATS, each may be killed under load", async (t) => {
  const nats = await natsCluster(t);
  const { stores, databaseUrl } = await testStores(t, { nats });
  await migrate(checkout, stores.postgresUrls);
  const replicas = await openReplicas(t, stores);
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
