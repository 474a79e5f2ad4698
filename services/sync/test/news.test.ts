import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { until } from "@coffer/testkit";
import type { Device } from "./support/device.ts";
import { startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";

const quick = { news: 300, newsAgain: 50, startOver: 5_000 };
const sync = await startSync(t, { timings: quick });
const { authSm, vaults, connect, nats } = sync;
t.afterEach(() => {
  vaults.news = () => ({});
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

await t.test("what events have not told is pushed when it is asked for, once", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const change = changeOf("missed");
  const user_ids = [device.userId, randomUUID()];
  const vault = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment(), user_ids };
  let parts = 0;
  vaults.news = (since, after) => {
    if (since === null) return {};
    parts += 1;
    return after === null
      ? { records: [{ vault_id: vaultId, changes: [change] }], after: "more" }
      : { vaults: [vault, { ...vault, action: "vault_created" }] };
  };
  await until("it is there", () => device.pushes().length === 3);
  t.match(device.pushes(), [{ record_id: "missed" }, { action: "vault_updated" }, { action: "vault_created" }]);
  const seen = parts;
  await until("it is asked twice more", () => parts >= seen + 4);
  t.equal(device.pushes().length, 3);
});

await t.test("the question continues where the last answer ended", async (t) => {
  await viewer(randomUUID());
  vaults.news = () => ({ server_time: "2026-11-20T10:00:00.000001Z" });
  await until("it is asked from there", () => vaults.newsAsked.at(-1) === "2026-11-20T10:00:00.000001Z");
  // As long as one is not answered, the next begins where it did.
  let failures = 0;
  vaults.news = () => {
    failures += 1;
    throw new ServiceError("unavailable", "not now");
  };
  await until("it is asked again", () => failures === 3);
  t.same(
    vaults.newsAsked.slice(-3),
    Array.from({ length: 3 }, () => "2026-11-20T10:00:00.000001Z"),
  );
  t.end();
});

await t.test("what was pushed already is not pushed again, what is newer is", async (t) => {
  // What was pushed is forgotten after two questions: here they come when they are wanted, however long the rest takes.
  const slow = await startSync(t, { timings: { news: 60_000, newsAgain: 50 } });
  const { vaults } = slow;
  const askedUntil = (what: string, isSo: () => boolean): Promise<true> =>
    until(what, async () => {
      vaults.beforeViewers = () => {
        vaults.beforeViewers = () => undefined;
        throw new ServiceError("unavailable", "not now");
      };
      await vaults.tell({ vault_id: randomUUID(), changes: [changeOf(randomUUID())] });
      return isSo();
    });
  const vaultId = randomUUID();
  const device = await viewer(vaultId, slow);
  const change = changeOf("told", "2026-11-20T10:00:00.000002Z");
  await vaults.tell({ vault_id: vaultId, changes: [change] });
  await until("it is there", () => device.pushes().length === 1);
  const lost = { action: "vault_deleted" as const, vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] };
  vaults.viewers.set(vaultId, []);
  await vaults.tell(lost);
  await until("it is there", () => device.pushes().length === 2);
  vaults.viewers.set(vaultId, [device.userId]);
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment() };
  await vaults.tell({ ...update, user_ids: null });
  await until("it is there", () => device.pushes().length === 3);
  let asked = 0;
  const older = { ...change, updated_at: "2026-11-20T10:00:00.000001Z" };
  vaults.news = (since) => {
    if (since !== null) asked += 1;
    const updates = [{ ...update, user_ids: [device.userId] }];
    return { records: [{ vault_id: vaultId, changes: [change, older] }], vaults: [lost, ...updates] };
  };
  await askedUntil("it is asked", () => asked >= 2);
  t.equal(device.pushes().length, 3);
  const newer = { ...change, updated_at: "2026-11-20T10:00:00.000003Z" };
  vaults.news = () => ({ records: [{ vault_id: vaultId, changes: [change, newer] }] });
  await askedUntil("the newer is there", () => device.pushes().length === 4);
  t.match(device.pushes().at(-1), newer);
});

await t.test("to be given a vault and to lose it is told in the order of their times, each once", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const at = (n: number): string => `2026-11-20T10:00:00.00000${n}Z`;
  const sight = (action: "vault_created" | "vault_deleted", n: number) => ({
    action,
    vault_id: vaultId,
    updated_at: at(n),
    user_ids: [device.userId],
  });
  const told = [sight("vault_deleted", 3), sight("vault_created", 4), sight("vault_deleted", 5)];
  for (const [index, news] of told.entries()) {
    vaults.viewers.set(vaultId, news.action === "vault_created" ? [device.userId] : []);
    await vaults.tell(news);
    await until("it is there", () => device.pushes().length === index + 1);
  }
  let asked = 0;
  vaults.news = (since) => {
    if (since !== null) asked += 1;
    return { vaults: [sight("vault_created", 2), ...told] };
  };
  vaults.viewers.set(vaultId, [device.userId]);
  await vaults.tell(sight("vault_created", 2));
  await until("it is asked", () => asked === 2);
  t.same(
    device.pushes().map(({ updated_at }) => updated_at),
    [at(3), at(4), at(5)],
  );
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: at(1), user_ids: [device.userId] };
  await vaults.tell(update);
  await until("what the vault itself has for a time says nothing of that", () => device.pushes().length === 4);
});

await t.test("what a vault was before somebody was given it is not made up for", async (t) => {
  const vaultId = randomUUID();
  const [given, other, late] = [await viewer(vaultId), await viewer(vaultId), await viewer(vaultId)];
  const at = (n: number): string => `2026-11-20T10:00:00.00000${n}Z`;
  const about = { vault_id: vaultId, user_ids: [given.userId, other.userId] };
  await vaults.tell({ ...about, action: "vault_created", updated_at: at(2), user_ids: [given.userId] });
  await until("it is there", () => given.pushes().length === 1);
  vaults.news = () => ({ vaults: [{ ...about, action: "vault_updated", updated_at: at(1) }] });
  await until("who had it is told", () => other.pushes().length === 1);
  vaults.news = () => ({ vaults: [{ ...about, action: "vault_updated", updated_at: at(3) }] });
  await until("what came later is told to both", () => given.pushes().length === 2 && other.pushes().length === 2);
  t.same(
    given.pushes().map(({ updated_at }) => updated_at),
    [at(2), at(3)],
  );
  t.same(late.pushes(), [], "who was given it after the answer, and is told so by the event");
});

await t.test("of a vault that very many see everybody is told, also in another part, and once", async (t) => {
  const vaultId = randomUUID();
  const [first, second] = [await viewer(vaultId), await viewer(vaultId)];
  const update = { action: "vault_updated" as const, vault_id: vaultId, updated_at: moment() };
  let answers = 0;
  vaults.news = (since, after) => {
    if (since === null) return {};
    if (after === null) answers += 1;
    return after === null
      ? { vaults: [{ ...update, user_ids: [first.userId] }], after: "more" }
      : { vaults: [{ ...update, user_ids: [second.userId] }] };
  };
  await until("both are told", () => first.pushes().length === 1 && second.pushes().length === 1);
  const seen = answers;
  await until("it is asked twice more", () => answers >= seen + 2);
  t.same([first.pushes().length, second.pushes().length], [1, 1]);
});

await t.test("who was given a vault and was not told is told when it is asked for", async (t) => {
  const [vaultId, other] = [randomUUID(), randomUUID()];
  const device = await viewer(other);
  const [lost, given] = (["vault_deleted", "vault_created"] as const).map((action, n) => ({
    action,
    vault_id: vaultId,
    updated_at: `2026-11-20T10:00:00.00000${n}Z`,
    user_ids: [device.userId],
  }));
  if (lost === undefined || given === undefined) throw new Error("there are two");
  await vaults.tell(lost);
  await until("it is there", () => device.pushes().length === 1);
  const asked = vaults.viewersAsked;
  await vaults.tell(given);
  await until("it is asked who may know", () => vaults.viewersAsked > asked);
  vaults.viewers.set(vaultId, [device.userId]);
  vaults.news = () => ({ vaults: [lost, given] });
  await until("it is there", () => device.pushes().length === 2);
  t.match(device.pushes(), [{ action: "vault_deleted" }, { action: "vault_created" }]);
});

await t.test("what was told of an answer in parts is not asked for again when a later part fails", async (t) => {
  await viewer(randomUUID());
  const places: (string | null)[] = [];
  const since = "2026-11-20T11:00:00.000001Z";
  let failures = 0;
  vaults.news = (from, after) => {
    if (from !== since) return { server_time: since };
    places.push(after);
    if (after === null) return { after: "second" };
    if (after === "second") return { after: "third" };
    failures += 1;
    if (failures === 1) throw new ServiceError("unavailable", "not now");
    if (failures === 2) throw new ServiceError("invalid_request", "the place is not one that a page gave");
    return {};
  };
  await until("all is told", () => failures === 3);
  t.same(places.slice(0, 7), [null, "second", "third", "third", null, "second", "third"]);
});

await t.test("a change of which nobody could say who may know is pushed when somebody can", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  let failures = 0;
  vaults.beforeViewers = () => {
    failures += 1;
    throw new ServiceError("unavailable", "not now");
  };
  const change = changeOf("delayed");
  vaults.news = () => ({ records: [{ vault_id: vaultId, changes: [change] }] });
  await vaults.tell({ vault_id: vaultId, changes: [change] });
  await until("it was asked in vain", () => failures > 2);
  t.same(device.pushes(), []);
  vaults.beforeViewers = () => undefined;
  await until("it is there", () => device.pushes().length === 1);
});

await t.test("however many changes cannot be told, the next question is not put off by them", async (t) => {
  const slow = await startSync(t, { timings: { news: 60_000, newsAgain: 300 } });
  const [vaultId, person] = [randomUUID(), slow.authSm.person()];
  slow.vaults.viewers.set(vaultId, [person.userId]);
  const device = await slow.connect(person);
  await device.sync();
  slow.vaults.beforeViewers = () => {
    throw new ServiceError("unavailable", "not now");
  };
  const asked = slow.vaults.newsAsked.length;
  await until("it is asked", async () => {
    await slow.vaults.tell({ vault_id: vaultId, changes: [changeOf(randomUUID())] });
    return slow.vaults.newsAsked.length > asked;
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
  vaults.news = (since) => (since === null ? {} : { records: [{ vault_id: vaultId, changes: [change] }] });
  await nats.start();
  await inSync("ok");
  await until("what was missed is there", () => patient.pushes().length === 1);
  t.match(patient.pushes(), [{ record_id: "during the outage" }]);
  await until("a new one is let in", async () => {
    const device = await connect(authSm.person(), { token });
    device.send({ type: "sync_request" });
    return until("it is answered or closed", () => device.messages.length > 0 || device.socket.readyState > 1).then(
      () => device.messages.length > 0,
    );
  });
});

await t.test("no device is given an answer before it is noted from when on everything is told", async (t) => {
  const other = await startSync(t, { timings: quick });
  other.vaults.news = () => {
    throw new ServiceError("unavailable", "not now");
  };
  const device = await other.connect(other.authSm.person());
  device.send({ type: "sync_request" });
  t.match(await device.closed(), { code: 1013 });
  t.same(other.vaults.asked, []);
});

await t.test(
  "when nobody knows any more what was missed, all connections are closed with 1012, one by one",
  async (t) => {
    const devices = await Promise.all(Array.from({ length: 10 }, () => viewer(randomUUID())));
    let asked = 0;
    vaults.news = (since) => {
      if (since === null) return {};
      asked += 1;
      return { reset: asked === 1 };
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
  },
);
