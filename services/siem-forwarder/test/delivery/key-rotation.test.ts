import { randomBytes, randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { createSealer } from "../../src/credentials/seal.ts";
import { draftsOf } from "./draft.ts";
import { startForwarder, startReplica, startStores } from "../forwarder.ts";
import { hecEndpoint, webhooksAt } from "./webhooks.ts";

const key = (): string => randomBytes(32).toString("base64url");

await t.test(
  "after a restart with a new first key all credentials are sealed under it, and the old one can go",
  async (t) => {
    const [old, fresh] = [key(), key()];
    const stores = await startStores(t);
    const { url, people } = await startForwarder(t, stores, undefined, { env: { COFFER_SIEM_KEYS: old } });
    const owner = await people.add([{ orgId: randomUUID(), role: "owner" }]);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await webhooksAt(url).create(owner, hecEndpoint)).body.id);
    const database = new pg.Client({ connectionString: stores.postgres.url });
    await database.connect();
    t.teardown(() => database.end());
    const sealed = async () =>
      (
        await database.query<{ id: string; credentials: string }>(
          "select id, credentials from siem_forwarder.siem_endpoints",
        )
      ).rows;
    const odd = randomUUID();
    await database.query(
      `insert into siem_forwarder.siem_endpoints
       (id, org_id, format, url, credentials, enabled, created_at, updated_at, position)
     values ($1, $1, 'hec', 'https://x.invalid', 'v1.lost.AAAA', false, now(), now(), 0)`,
      [odd],
    );
    await startReplica(t, stores, { env: { COFFER_SIEM_KEYS: `${fresh},${old}` } });
    const sealer = createSealer([fresh]);
    await until("all are sealed under the new key", async () =>
      (await sealed()).every(({ id, credentials }) => id === odd || credentials.startsWith(sealer.currentPrefix)),
    );
    for (const { id, credentials } of await sealed()) {
      if (id === odd) t.equal(credentials, "v1.lost.AAAA", "what no key opens stays as it is");
      else t.equal(sealer.open(credentials, id), JSON.stringify(hecEndpoint.credentials));
    }
  },
);

await t.test("an endpoint whose credentials no key opens counts as failing", async (t) => {
  const stores = await startStores(t);
  const { url, people, append, tick, registry } = await startForwarder(t, stores);
  const orgId = randomUUID();
  const owner = await people.add([{ orgId, role: "owner" }]);
  const { body } = await webhooksAt(url).create(owner, hecEndpoint);
  const database = new pg.Client({ connectionString: stores.postgres.url });
  await database.connect();
  t.teardown(() => database.end());
  await database.query("UPDATE siem_forwarder.siem_endpoints SET credentials = 'v1.lost.AAAA' WHERE id = $1", [
    body.id,
  ]);
  await append(draftsOf(orgId, 1));
  const failed = /format="hec",outcome="failed"\} [1-9]/;
  await until("it is counted", async () => {
    await tick();
    return failed.test(await registry.getSingleMetricAsString("coffer_siem_deliveries_total"));
  });
});

void t.test("at each step of a rotation the replicas before and after it open what the others seal", (t) => {
  const [old, fresh] = [key(), key()];
  const steps = [[old], [old, fresh], [fresh, old], [fresh]].map(createSealer);
  for (const [index, after] of steps.entries()) {
    const before = steps[index - 1] ?? after;
    // The last step follows when everything is sealed under the new key.
    if (after !== steps[3]) t.equal(after.open(before.seal("token", "id"), "id"), "token");
    t.equal(before.open(after.seal("token", "id"), "id"), "token");
  }
  const [first, , third] = steps;
  t.equal(first?.open(third?.seal("token", "id") ?? "", "id"), null, "which is why the second step is needed");
  t.end();
});
