import { fileURLToPath } from "node:url";
import { testNats, testPostgres, testRedis } from "@coffer/testkit";
import t from "tap";
import { connect } from "../../../../packages/tools/cases/src/connection.ts";
import { chooseCases, readCases } from "../../../../packages/tools/cases/src/read-cases.ts";
import { type Result, runCases } from "../../../../packages/tools/cases/src/run-cases.ts";
import { checkout } from "../../src/checkout.ts";
import { startWholeLoad } from "../replicas/load.ts";
import { migrate } from "../replicas/migrate.ts";
import { openReplicas } from "../replicas/replicas.ts";
import { newDatabase, storesOf } from "../replicas/stores.ts";

// auth-sm and vaults each have their own Postgres server, the other services share a third one.

const servers = await Promise.all([1, 2, 3].map(() => testPostgres(t, { own: true })));
const [nats, redis] = await Promise.all([testNats(t), testRedis(t)]);
const databases = await Promise.all(servers.map(({ url }) => newDatabase(url)));
const [forAuth, forVaults, forOthers] = databases.map(({ urls }) => urls);
const postgresUrls: Record<string, string> = {
  ...forOthers,
  auth_sm: forAuth?.["auth_sm"] ?? "",
  vaults: forVaults?.["vaults"] ?? "",
};
const vaultsDatabase = databases[1]?.url ?? "";
const stores = storesOf({ databaseUrl: vaultsDatabase, postgresUrls, nats, redis });
await migrate(checkout, stores.postgresUrls);
const replicas = await openReplicas(t, stores);
await replicas.add();

await t.test("secrets, machines, logins, records, devices and the audit work", async (t) => {
  const load = await startWholeLoad(t, replicas, { databaseUrl: () => vaultsDatabase });
  await load.progress();
  t.same(await load.stop(), [], "acknowledged writes are stored once, and audited");
  t.same(replicas.takeFailures(), []);
});

await t.test("cases of each service pass", async (t) => {
  const { shop, cases } = await readCases(fileURLToPath(new URL("../../../../docs/spec/cases/", import.meta.url)));
  const results: Result[] = [];
  await runCases({
    connection: connect({ url: replicas.url, forwarded: true }),
    audience: replicas.url,
    shop,
    cases: chooseCases(cases, ["bootstrap", "records", "rotation", "vaults"]),
    onResult: (result) => results.push(result),
  });
  t.ok(results.some(({ outcome }) => outcome === "passed"));
  t.same(
    results.filter(({ outcome }) => outcome === "failed").map(({ name, reason }) => `${name}: ${reason ?? ""}`),
    [],
  );
});
