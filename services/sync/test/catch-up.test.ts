import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { until } from "@coffer/testkit";
import type { Device } from "./support/device.ts";
import { startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";

const quick = { catchUp: 300, catchUpRetry: 50, startOver: 5_000 };
const sync = await startSync(t, { timings: quick });
const { authSm, vaults, connect, nats } = sync;
t.afterEach(() => {
  vaults.catchUp = () => ({});
});

const inSync = async (state: "ok" | "down") => {
  await until(`the bus is ${state}`, async () => (await sync.service.ready()).checks["nats"] === state);
  if (state === "ok") await until("the others too", () => authSm.bus.connected && vaults.bus.connected);
};

async function viewer(vaultId: string, of = sync): Promise<Device & { userId: string }> {
  const person = of.authSm.person();
  of.vaults.viewers.set(vaultId, [...(of.vaults.viewers.get(vaultId) ?? []), person.userId]);
  const device = await of.connect(person);
  await device.sync();
  return { ...device, userId: person.userId };
}

const changeOf = (record_id: string, updated_at = moment()) => ({
  action: "record_updated" as const,
  record_id,
  updated_at,
});

await t.test("catch-up pushes missed events, once", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const change = changeOf("missed");
  const user_ids = [device.userId, randomUUID()];
  const vault = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment(), user_ids };
  let parts = 0;
  vaults.catchUp = (since, after) => {
    if (since === null) return {};
    parts += 1;
    return after === null
      ? { records: [{ vault_id: vaultId, changes: [change] }], after: "more" }
      : { vaults: [vault, { ...vault, action: "vault_created" }] };
  };
  await until("it is there", () => device.pushes().length === 3);
  t.match(device.pushes(), [{ record_id: "missed" }, { action: "vault_updated" }, { action: "vault_created" }]);
  const seen = parts;
  await until("two more requests", () => parts >= seen + 4);
  t.equal(device.pushes().length, 3);
});

await t.test("the next request continues where the last response ended", async (t) => {
  await viewer(randomUUID());
  vaults.catchUp = () => ({ server_time: "2026-11-20T10:00:00.000001Z" });
  await until("the next request", () => vaults.catchUpRequests.at(-1) === "2026-11-20T10:00:00.000001Z");
  // After a failure the next request begins at the same moment.
  let failures = 0;
  vaults.catchUp = () => {
    failures += 1;
    throw new ServiceError("unavailable", "not now");
  };
  await until("another request", () => failures === 3);
  t.same(
    vaults.catchUpRequests.slice(-3),
    Array.from({ length: 3 }, () => "2026-11-20T10:00:00.000001Z"),
  );
  t.end();
});

await t.test("pushed changes are not pushed again, newer ones are", async (t) => {
  // Pushed changes are forgotten after two requests: here the test decides when these come.
  const slow = await startSync(t, { timings: { catchUp: 60_000, catchUpRetry: 50 } });
  const { vaults } = slow;
  const requestUntil = (what: string, isSo: () => boolean): Promise<true> =>
    until(what, async () => {
      vaults.beforeViewers = () => {
        vaults.beforeViewers = () => undefined;
        throw new ServiceError("unavailable", "not now");
      };
      await vaults.publish({ vault_id: randomUUID(), changes: [changeOf(randomUUID())] });
      return isSo();
    });
  const vaultId = randomUUID();
  const device = await viewer(vaultId, slow);
  const change = changeOf("pushed", "2026-11-20T10:00:00.000002Z");
  await vaults.publish({ vault_id: vaultId, changes: [change] });
  await until("it is there", () => device.pushes().length === 1);
  const lost = { action: "vault_deleted" as const, vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] };
  vaults.viewers.set(vaultId, []);
  await vaults.publish(lost);
  await until("it is there", () => device.pushes().length === 2);
  vaults.viewers.set(vaultId, [device.userId]);
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment() };
  await vaults.publish({ ...update, user_ids: null });
  await until("it is there", () => device.pushes().length === 3);
  let requests = 0;
  const older = { ...change, updated_at: "2026-11-20T10:00:00.000001Z" };
  vaults.catchUp = (since) => {
    if (since !== null) requests += 1;
    const updates = [{ ...update, user_ids: [device.userId] }];
    return { records: [{ vault_id: vaultId, changes: [change, older] }], vaults: [lost, ...updates] };
  };
  await requestUntil("two requests", () => requests >= 2);
  t.equal(device.pushes().length, 3);
  const newer = { ...change, updated_at: "2026-11-20T10:00:00.000003Z" };
  vaults.catchUp = () => ({ records: [{ vault_id: vaultId, changes: [change, newer] }] });
  await requestUntil("the newer change is pushed", () => device.pushes().length === 4);
  t.match(device.pushes().at(-1), newer);
});

await t.test("gaining and losing a vault is pushed in the order of their times, each once", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const at = (n: number): string => `2026-11-20T10:00:00.00000${n}Z`;
  const visibility = (action: "vault_created" | "vault_deleted", n: number) => ({
    action,
    vault_id: vaultId,
    updated_at: at(n),
    user_ids: [device.userId],
  });
  const events = [visibility("vault_deleted", 3), visibility("vault_created", 4), visibility("vault_deleted", 5)];
  for (const [index, event] of events.entries()) {
    vaults.viewers.set(vaultId, event.action === "vault_created" ? [device.userId] : []);
    await vaults.publish(event);
    await until("it is there", () => device.pushes().length === index + 1);
  }
  let requests = 0;
  vaults.catchUp = (since) => {
    if (since !== null) requests += 1;
    return { vaults: [visibility("vault_created", 2), ...events] };
  };
  vaults.viewers.set(vaultId, [device.userId]);
  await vaults.publish(visibility("vault_created", 2));
  await until("two requests", () => requests === 2);
  t.same(
    device.pushes().map(({ updated_at }) => updated_at),
    [at(3), at(4), at(5)],
  );
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: at(1), user_ids: [device.userId] };
  await vaults.publish(update);
  await until("a vault_updated with an earlier time is pushed too", () => device.pushes().length === 4);
});

await t.test("a catch-up event from before a person gained the vault is skipped", async (t) => {
  const vaultId = randomUUID();
  const [given, other, late] = [await viewer(vaultId), await viewer(vaultId), await viewer(vaultId)];
  const at = (n: number): string => `2026-11-20T10:00:00.00000${n}Z`;
  const about = { vault_id: vaultId, user_ids: [given.userId, other.userId] };
  await vaults.publish({ ...about, action: "vault_created", updated_at: at(2), user_ids: [given.userId] });
  await until("it is there", () => given.pushes().length === 1);
  vaults.catchUp = () => ({ vaults: [{ ...about, action: "vault_updated", updated_at: at(1) }] });
  await until("the earlier viewer is notified", () => other.pushes().length === 1);
  vaults.catchUp = () => ({ vaults: [{ ...about, action: "vault_updated", updated_at: at(3) }] });
  await until("both receive the later change", () => given.pushes().length === 2 && other.pushes().length === 2);
  t.same(
    given.pushes().map(({ updated_at }) => updated_at),
    [at(2), at(3)],
  );
  t.same(late.pushes(), [], "the event notifies a later viewer");
});

await t.test("catch-up of a vault with many viewers reaches each once, also over several pages", async (t) => {
  const vaultId = randomUUID();
  const [first, second] = [await viewer(vaultId), await viewer(vaultId)];
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment() };
  let answers = 0;
  vaults.catchUp = (since, after) => {
    if (since === null) return {};
    if (after === null) answers += 1;
    return after === null
      ? { vaults: [{ ...update, user_ids: [first.userId] }], after: "more" }
      : { vaults: [{ ...update, user_ids: [second.userId] }] };
  };
  await until("both are notified", () => first.pushes().length === 1 && second.pushes().length === 1);
  const seen = answers;
  await until("two more requests", () => answers >= seen + 2);
  t.same([first.pushes().length, second.pushes().length], [1, 1]);
});

await t.test("catch-up pushes a vault_created that was missed", async (t) => {
  const [vaultId, other] = [randomUUID(), randomUUID()];
  const device = await viewer(other);
  const [lost, given] = (["vault_deleted", "vault_created"] as const).map((action, n) => ({
    action,
    vault_id: vaultId,
    updated_at: `2026-11-20T10:00:00.00000${n}Z`,
    user_ids: [device.userId],
  }));
  if (lost === undefined || given === undefined) throw new Error("there are two");
  await vaults.publish(lost);
  await until("it is there", () => device.pushes().length === 1);
  const requests = vaults.viewerRequests;
  await vaults.publish(given);
  await until("the viewers are requested", () => vaults.viewerRequests > requests);
  vaults.viewers.set(vaultId, [device.userId]);
  vaults.catchUp = () => ({ vaults: [lost, given] });
  await until("it is there", () => device.pushes().length === 2);
  t.match(device.pushes(), [{ action: "vault_deleted" }, { action: "vault_created" }]);
});

await t.test("a failed catch-up continues after the last pushed page", async (t) => {
  await viewer(randomUUID());
  const places: (string | null)[] = [];
  const since = "2026-11-20T11:00:00.000001Z";
  let failures = 0;
  vaults.catchUp = (from, after) => {
    if (from !== since) return { server_time: since };
    places.push(after);
    if (after === null) return { after: "second" };
    if (after === "second") return { after: "third" };
    failures += 1;
    if (failures === 1) throw new ServiceError("unavailable", "not now");
    if (failures === 2) throw new ServiceError("invalid_request", "the place is not one that a page gave");
    return {};
  };
  await until("everything is pushed", () => failures === 3);
  t.same(places.slice(0, 7), [null, "second", "third", "third", null, "second", "third"]);
});

await t.test("a change with an unknown audience is pushed once the audience is known", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  let failures = 0;
  vaults.beforeViewers = () => {
    failures += 1;
    throw new ServiceError("unavailable", "not now");
  };
  const change = changeOf("delayed");
  vaults.catchUp = () => ({ records: [{ vault_id: vaultId, changes: [change] }] });
  await vaults.publish({ vault_id: vaultId, changes: [change] });
  await until("some requests fail", () => failures > 2);
  t.same(device.pushes(), []);
  vaults.beforeViewers = () => undefined;
  await until("it is there", () => device.pushes().length === 1);
});

await t.test("changes that cannot be pushed do not delay the next catch-up", async (t) => {
  const slow = await startSync(t, { timings: { catchUp: 60_000, catchUpRetry: 300 } });
  const [vaultId, person] = [randomUUID(), slow.authSm.person()];
  slow.vaults.viewers.set(vaultId, [person.userId]);
  const device = await slow.connect(person);
  await device.sync();
  slow.vaults.beforeViewers = () => {
    throw new ServiceError("unavailable", "not now");
  };
  const requests = slow.vaults.catchUpRequests.length;
  await until("another request", async () => {
    await slow.vaults.publish({ vault_id: vaultId, changes: [changeOf(randomUUID())] });
    return slow.vaults.catchUpRequests.length > requests;
  });
});

await t.test("the bus away: open connections stay, a sync or a new connection is closed with 1013", async (t) => {
  const vaultId = randomUUID();
  const [patient, impatient] = [await viewer(vaultId), await viewer(vaultId)];
  const token = await authSm.token(authSm.person());
  await nats.stop();
  await inSync("down");
  impatient.send({ type: "sync_request" });
  t.match(await impatient.closed(), { code: 1013 });
  const late = await connect(authSm.person(), { token });
  t.match(await late.closed(), { code: 1013 });
  t.equal(patient.socket.readyState, 1);

  const change = changeOf("during the outage");
  vaults.catchUp = (since) => (since === null ? {} : { records: [{ vault_id: vaultId, changes: [change] }] });
  await nats.start();
  await inSync("ok");
  await until("the missed change is pushed", () => patient.pushes().length === 1);
  t.match(patient.pushes(), [{ record_id: "during the outage" }]);
  await until("a new one is let in", async () => {
    const device = await connect(authSm.person(), { token });
    device.send({ type: "sync_request" });
    return until("it is answered or closed", () => device.messages.length > 0 || device.socket.readyState > 1).then(
      () => device.messages.length > 0,
    );
  });
});

await t.test("no device is answered before the start of the catch-up is set", async (t) => {
  const other = await startSync(t, { timings: quick });
  other.vaults.catchUp = () => {
    throw new ServiceError("unavailable", "not now");
  };
  const device = await other.connect(other.authSm.person());
  device.send({ type: "sync_request" });
  t.match(await device.closed(), { code: 1013 });
  t.same(other.vaults.requests, []);
});

await t.test("if missed events are unknown, all connections are closed with 1012, one by one", async (t) => {
  const devices = await Promise.all(Array.from({ length: 10 }, () => viewer(randomUUID())));
  let requests = 0;
  vaults.catchUp = (since) => {
    if (since === null) return {};
    requests += 1;
    return { reset: requests === 1 };
  };
  const times = await Promise.all(
    devices.map(async (device) => {
      t.match(await device.closed(), { code: 1012 });
      return performance.now();
    }),
  );
  const spread = Math.max(...times) - Math.min(...times);
  t.ok(spread > 150, `${spread} ms`);
  const again = await viewer(randomUUID());
  t.equal(again.socket.readyState, 1);
});
