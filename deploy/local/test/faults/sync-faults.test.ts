import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { isReady, killService, killStore, type StoreName } from "./inject.ts";
import { startRecordLoad } from "./record-load.ts";
import { npmStart, until } from "../npm-start.ts";

// Parts die and come back while two people write records and their devices follow.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };
const env = { ...limits, COFFER_PROCESSES: "separate" };
const coffer = npmStart(t, { directory: testDirectory(t), env });
const { url } = await coffer.ready;
const { progress, pushesFlow, violations, stop } = await startRecordLoad(t, {
  url,
  databaseUrl: () => coffer.state().stores.postgres,
});

/** Postgres stops answering while people write, then it is killed and restarted. */
async function hangAndDie(name: StoreName): Promise<void> {
  process.kill(coffer.state().store_pids[name] ?? 0, "SIGSTOP");
  await progress();
  await killStore(coffer, name);
}

const faults = {
  "sync is killed": () => killService(coffer, "sync"),
  "vaults is killed": () => killService(coffer, "vaults"),
  "Redis hangs and is killed": () => hangAndDie("redis"),
  "NATS hangs and is killed": () => hangAndDie("nats"),
  "Postgres is killed": () => killStore(coffer, "postgres"),
  "Postgres, NATS and vaults are killed": () =>
    Promise.all([killStore(coffer, "postgres"), killStore(coffer, "nats"), killService(coffer, "vaults")]),
};

await progress();
await pushesFlow();
for (const [what, inject] of Object.entries(faults))
  await t.test(`${what}: writes go on, and a new change is pushed to every device`, async (t) => {
    const began = performance.now();
    await inject();
    await until(() => isReady(coffer));
    t.comment(`ready ${Math.round(performance.now() - began)} ms after it began`);
    await progress();
    await pushesFlow();
    t.comment(`pushes flow ${Math.round(performance.now() - began)} ms after it began`);
    t.same(violations(), []);
  });

await t.test("every device has the acknowledged records, and no others than the database", async (t) => {
  const { lost, acknowledged } = await stop();
  t.same(lost, []);
  t.comment(`${acknowledged} writes acknowledged`);
});
