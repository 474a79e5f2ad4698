import t from "tap";
import { checkout } from "../../src/checkout.ts";
import { startWholeLoad } from "../replicas/load.ts";
import { migrate } from "../replicas/migrate.ts";
import { checkOut, previousVersion } from "../replicas/previous-version.ts";
import { openReplicas } from "../replicas/replicas.ts";
import { testStores } from "../replicas/stores.ts";

// The previous version and this one over one set of stores, as in a rolling upgrade and a rollback.

const commit = previousVersion();
const skip = commit === null ? "git does not have the previous version: clone the whole history" : false;

await t.test("an upgrade and a rollback under load fail no request and lose nothing", { skip }, async (t) => {
  const previous = checkOut(t, commit ?? "");
  const { stores, databaseUrl } = await testStores(t);
  await migrate(previous, stores.postgresUrls);
  const replicas = await openReplicas(t, stores);
  const old = await replicas.add({ checkout: previous });
  const load = await startWholeLoad(t, replicas, { databaseUrl: () => databaseUrl });
  const goesOn = async (when: string): Promise<void> => {
    t.comment(`${Math.round(performance.now() / 1000)} s: ${when}`);
    await load.progress();
    t.same(replicas.takeFailures(), [], when);
  };
  await goesOn("the previous version alone");
  await migrate(checkout, stores.postgresUrls);
  await goesOn("the previous version on the schema of this one");
  const present = await replicas.add();
  await goesOn("both versions side by side");
  const ended = await old.remove();
  t.same(
    ended.filter((how) => !how.endsWith(": code 0")),
    [],
  );
  await goesOn("this version alone");
  await replicas.add({ checkout: previous });
  await goesOn("both versions side by side in a rollback");
  await present.remove();
  await goesOn("the previous version after the rollback");
  t.same(await load.stop(), [], "nothing was lost, recorded twice, or answered wrongly");
});
