import { once } from "node:events";
import { until, testNats, testPostgres, testRedis } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { startReplica } from "../forwarder.ts";
import { startProcess } from "./process.ts";
import { hecToken, startHec } from "../delivery/receivers/vendors.ts";
import { allowLoopback, idsOf, startSiem } from "../delivery/siem.ts";

const hec = (url: string) => ({ format: "hec", url, credentials: { token: hecToken } });

await t.test("two replicas share the endpoints, and one takes over when the other leaves", async (t) => {
  const splunk = await startHec(t);
  const siem = await startSiem(t);
  const { owner, record } = await siem.company();
  for (let n = 0; n < 6; n += 1) await siem.webhooks.create(owner, hec(splunk.url));
  const seams = { now: siem.clock.now, lookMilliseconds: null };
  const { service } = await startReplica(t, siem.stores, { env: allowLoopback, seams });
  const database = new pg.Client({ connectionString: siem.stores.postgres.url });
  await database.connect();
  t.teardown(() => database.end());
  const shares = async (): Promise<number[]> => {
    const { rows } = await database.query<{ n: number }>(
      "select count(*)::int as n from siem_forwarder.siem_endpoints where lease_holder is not null group by lease_holder",
    );
    return rows.map(({ n }) => n);
  };
  await siem.tick();
  t.same(await shares(), [6], "alone it has all");
  await service.forwarder.tick();
  await siem.tick();
  await service.forwarder.tick();
  t.same(await shares(), [3, 3]);
  const ids = await record(5);
  await Promise.all([siem.tick(), service.forwarder.tick()]);
  t.equal(splunk.taken.filter((event) => ids.includes(idsOf([event])[0] ?? "")).length, 6 * ids.length, "each once");
  await service.forwarder.close(1);
  await siem.tick();
  t.same(await shares(), [6], "at once after an orderly end");
});

await t.test("a lease that is not renewed ends, and its former holder stores nothing any more", async (t) => {
  const splunk = await startHec(t);
  const siem = await startSiem(t);
  const { owner, record } = await siem.company();
  await siem.webhooks.create(owner, hec(splunk.url));
  const ids = await record(2);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  splunk.interfere = () => held.then(() => ({ status: 503 }));
  const stuck = siem.tick();
  await until("the first replica sends", () => splunk.requests.length === 1);
  splunk.interfere = null;
  await siem.pass(6);
  const seams = { now: siem.clock.now, lookMilliseconds: null };
  const { service } = await startReplica(t, siem.stores, { env: allowLoopback, seams });
  await service.forwarder.tick();
  t.same(idsOf(splunk.taken), ids);
  release();
  await stuck;
  t.match(
    (await siem.webhooks.list(owner))[0]?.last_delivery,
    { status: 200, error: null },
    "the failure came too late",
  );
});

await t.test("the lease of a killed replica is taken within 10 s, and never before it has ended", async (t) => {
  const splunk = await startHec(t);
  const siem = await startSiem(t);
  const { owner, record } = await siem.company();
  await siem.webhooks.create(owner, hec(splunk.url));
  await siem.tick();
  // From here on the first replica does nothing: it is never asked to look again.
  const ids = await record(2);
  const seams = { now: siem.clock.now, lookMilliseconds: null };
  const { service } = await startReplica(t, siem.stores, { env: allowLoopback, seams });
  let seconds = 0;
  for (; splunk.taken.length === 0 && seconds <= 60; seconds += 1) {
    await service.forwarder.tick();
    await siem.pass(1);
  }
  // It looks each second; the last of these rounds has delivered.
  t.ok(seconds - 1 <= 10 && seconds - 1 >= 6, `taken over after ${seconds - 1} s`);
  t.same(idsOf(splunk.taken), ids);
});

await t.test(
  "killed in the middle of a delivery: another replica has it within 10 s, in order, with nothing missing",
  async (t) => {
    const [postgres, nats, redis] = await Promise.all([testPostgres(t, { own: true }), testNats(t), testRedis(t)]);
    const splunk = await startHec(t);
    const siem = await startSiem(t, { stores: { postgres, nats, redis } });
    const { owner, record } = await siem.company();
    await siem.webhooks.create(owner, hec(splunk.url));
    const start = () => startProcess(t, { postgres, nats, redis });
    const ids = await record(2_000);
    // The first batch is taken, and its answer never comes: the process is killed while it waits for it.
    splunk.interfere = async ({ body }) => {
      if (splunk.requests.length < 3) return null;
      const events = body
        .toString()
        .split("\n")
        .map((line) => (JSON.parse(line) as { event: unknown }).event);
      splunk.taken.push(...events);
      return new Promise(() => undefined);
    };
    const first = await start();
    await until("a batch hangs", () => splunk.requests.length === 3, 60);
    first.kill("SIGKILL");
    await once(first, "exit");
    splunk.interfere = null;
    const second = await start();
    const began = performance.now();
    const all = (): boolean => new Set(idsOf(splunk.taken)).size >= ids.length;
    await until("another replica delivers all", all, 60);
    t.comment(`taken over after ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    const seen = new Set<string>();
    const order = idsOf(splunk.taken).filter((id) => ids.includes(id) && !seen.has(id) && seen.add(id));
    t.same(order, ids, "in order, nothing missing");
    t.ok(splunk.taken.length > ids.length, "what was not acknowledged came again");

    // Postgres goes away and comes back while records are delivered.
    const more = await record(200);
    await postgres.kill();
    await postgres.start();
    const rest = await until("it works again", () => record(200).catch(() => null), 60);
    await until("all of it arrives", () => [...more, ...rest].every((id) => idsOf(splunk.taken).includes(id)), 60);

    // The receiver is away.
    const { port } = new URL(splunk.url);
    await splunk.stop();
    const last = await record(50);
    await until("it is noticed", async () => (await siem.webhooks.list(owner))[0]?.last_delivery?.error !== null, 60);
    const again = await startHec(t, { port: Number(port) });
    await until("it arrives when the receiver is back", () => last.every((id) => idsOf(again.taken).includes(id)), 60);
    t.same(idsOf(again.taken), last);

    // Asked to end, it finishes the request under way and stores how far it has come.
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    again.interfere = () => held.then(() => null);
    const before = again.requests.length;
    const drained = await record(1);
    await until("a request is under way", () => again.requests.length > before, 60);
    second.kill("SIGTERM");
    release();
    again.interfere = null;
    t.same(await once(second, "exit"), [0, null]);
    await start();
    const after = await record(1);
    await until("the next one delivers", () => idsOf(again.taken).includes(after[0] ?? ""), 60);
    t.equal(idsOf(again.taken).filter((id) => id === drained[0]).length, 1, "the drained request is not repeated");
  },
);
