import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { folderChanged } from "@coffer/events";
import t from "tap";
import { until } from "@coffer/testkit";
import { startReplica, startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";
import { createViewers, recordNews } from "./support/viewers.ts";

// Who is told what.

const sync = await startSync(t);
const { authSm, vaults, connect, metrics } = sync;
const { viewer, pushesUpTo } = createViewers(sync);
t.afterEach(() => {
  vaults.beforeViewers = () => undefined;
});

await t.test("each change of a record is one push, without ciphertext", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const changes = (["record_created", "record_updated", "record_deleted"] as const).map((action) => ({
    action,
    record_id: randomUUID(),
    updated_at: moment(),
  }));
  await vaults.tell({ vault_id: vaultId, changes });
  t.strictSame(
    await pushesUpTo(device),
    changes.map((change) => ({ type: "push", ...change, vault_id: vaultId })),
  );
});

await t.test("an id names a record of one vault: the same one in another is pushed all the same", async (t) => {
  const [one, other, id] = [randomUUID(), randomUUID(), randomUUID()];
  const device = await viewer(one);
  vaults.viewers.set(other, [device.userId]);
  const [earlier, later] = [moment(), moment()];
  await vaults.tell(recordNews(one, id, later));
  await vaults.tell(recordNews(other, id, earlier));
  const pushes = await pushesUpTo(device);
  t.same(
    pushes.map(({ vault_id }) => vault_id),
    [one, other],
  );
});

await t.test("a vault's pushes say which vault, and that it is no record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const expected = [];
  for (const action of ["vault_created", "vault_updated", "vault_deleted"] as const) {
    const [updated_at, user_ids] = [moment(), action === "vault_updated" ? null : [device.userId]];
    vaults.viewers.set(vaultId, action === "vault_deleted" ? [] : [device.userId]);
    await vaults.tell({ action, vault_id: vaultId, updated_at, user_ids });
    expected.push({ type: "push", action, record_id: null, vault_id: vaultId, updated_at });
    await until("it is there", () => device.pushes().length === expected.length);
  }
  t.strictSame(await pushesUpTo(device), expected);
});

await t.test("a folder's pushes say which folder and what about it", async (t) => {
  const folderId = randomUUID();
  const [holder, gone, other] = [await viewer(randomUUID()), await viewer(randomUUID()), await viewer(randomUUID())];
  authSm.holders.set(folderId, [randomUUID(), holder.userId]);
  const expected = [];
  for (const change of ["metadata", "membership", "key", "secrets"] as const) {
    const updated_at = moment();
    authSm.bus.publish(folderChanged, { folder_id: folderId, change, updated_at, user_ids: [gone.userId] });
    await authSm.bus.flush();
    expected.push({
      type: "push",
      action: "folder_updated",
      record_id: null,
      vault_id: null,
      updated_at,
      folder_id: folderId,
      change,
    });
    await until("it is there", () => holder.pushes().length === expected.length);
  }
  t.strictSame(await pushesUpTo(holder), expected);
  t.strictSame(await pushesUpTo(gone), expected, "who is named hears of it too");
  t.same(await pushesUpTo(other), []);
});

await t.test(
  "every connection of everybody who may see the vault gets it, on every replica, and nobody else",
  async (t) => {
    const vaultId = randomUUID();
    const replica = await startReplica(t, sync);
    await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
    const writer = authSm.person();
    const first = await viewer(vaultId, writer);
    const second = await viewer(vaultId, authSm.person(writer));
    const elsewhere = await connect(writer, undefined, replica);
    await elsewhere.sync();
    const member = await viewer(vaultId);
    const third = await viewer(vaultId);
    const other = await viewer(randomUUID());
    await vaults.tell(recordNews(vaultId, "shared-record"));
    for (const device of [first, second, elsewhere, member, third])
      await until("it is there", () => device.pushes().some(({ record_id }) => record_id === "shared-record"));
    t.same(await pushesUpTo(other), []);
  },
);

await t.test("who may see it is asked when it is sent", async (t) => {
  const vaultId = randomUUID();
  const [kept, lost] = [await viewer(vaultId), await viewer(vaultId)];
  vaults.viewers.set(vaultId, [kept.userId]);
  await vaults.tell(recordNews(vaultId, "after"));
  t.match(await pushesUpTo(kept), [{ record_id: "after" }]);
  t.same(await pushesUpTo(lost), []);

  const given = await viewer(randomUUID());
  const created = (user_ids: string[]) => ({
    action: "vault_created" as const,
    vault_id: vaultId,
    updated_at: moment(),
    user_ids,
  });
  await vaults.tell(created([given.userId]));
  t.same(await pushesUpTo(given), [], "who was given it and has lost it again is not told of it");
  t.match(await pushesUpTo(kept), [{ record_id: "after" }], "nor who is not named");
  vaults.viewers.set(vaultId, [kept.userId, given.userId]);
  await vaults.tell(created([given.userId]));
  t.match(await pushesUpTo(given), [{ action: "vault_created", vault_id: vaultId }]);

  await vaults.tell({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [lost.userId] });
  t.match(await pushesUpTo(lost), [{ action: "vault_deleted", vault_id: vaultId }]);
  t.notOk((await pushesUpTo(kept)).some(({ action }) => action === "vault_deleted"));
});

await t.test("a change is one push to each: to whom it gave the vault, that", async (t) => {
  const vaultId = randomUUID();
  const [given, other] = [await viewer(vaultId), await viewer(vaultId)];
  const news = { vault_id: vaultId, updated_at: moment() };
  await vaults.tell({ ...news, action: "vault_created", user_ids: [given.userId] });
  await vaults.tell({ ...news, action: "vault_updated", user_ids: null, except: [given.userId] });
  const actions = async (device: typeof given) => (await pushesUpTo(device)).map(({ action }) => action);
  t.same(await actions(given), ["vault_created"]);
  t.same(await actions(other), ["vault_updated"]);
});

await t.test("the end of a vault is not told to who sees it again by then", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  await vaults.tell({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  t.same(await pushesUpTo(device), []);
});

await t.test("nobody is asked about a vault for the sake of people who are not connected here", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(randomUUID());
  const late = authSm.person();
  const before = vaults.viewersAsked;
  for (const action of ["vault_created", "vault_deleted"] as const)
    await vaults.tell({ action, vault_id: vaultId, updated_at: moment(), user_ids: [late.userId, randomUUID()] });
  await pushesUpTo(device);
  t.equal(vaults.viewersAsked, before + 1, "only for the mark's");

  // Whoever connects while somebody else is asked for is told too.
  const gate = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    return gate.promise;
  };
  const user_ids = [late.userId, device.userId];
  vaults.viewers.set(vaultId, user_ids);
  await vaults.tell({ action: "vault_created", vault_id: vaultId, updated_at: moment(), user_ids });
  await until("it is asked", () => waiting === 1);
  const other = await connect(late);
  await other.sync();
  gate.resolve(undefined);
  await until("both are told", () => other.pushes().length === 1 && device.pushes().length > 0);
  t.match(other.pushes(), [{ action: "vault_created", vault_id: vaultId }]);
});

await t.test("nothing of a vault follows its end", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const gate = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    if (waiting === 3) vaults.viewers.set(vaultId, []);
    return waiting === 1 ? gate.promise : undefined;
  };
  await vaults.tell(recordNews(vaultId, "before its end"));
  await until("it is asked", () => waiting === 1);
  await vaults.tell({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  await vaults.tell(recordNews(randomUUID(), "another"));
  await until("what was told after it is asked", () => waiting === 2);
  gate.resolve(undefined);
  await until("both are there", () => device.pushes().length === 2);
  t.match(device.pushes(), [{ record_id: "before its end" }, { action: "vault_deleted" }]);

  vaults.beforeViewers = () => {
    throw new ServiceError("unavailable", "not now");
  };
  await vaults.tell({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  await until("it is told also when nobody can be asked", () => device.pushes().length === 3);
});

await t.test("a change while it is being asked is asked for once more, however many there are", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const gate = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    return gate.promise;
  };
  const before = vaults.viewersAsked;
  await vaults.tell(recordNews(vaultId, "first"));
  await until("it is asked", () => waiting === 1);
  // The answer under way may be from before this.
  vaults.viewers.set(vaultId, []);
  await vaults.tell(...Array.from({ length: 20 }, (_, index) => recordNews(vaultId, `later-${index}`)));
  // What is told next arrives behind it, so that all of them have.
  const other = randomUUID();
  await vaults.tell(recordNews(other, "other"));
  await until("the other is asked for", () => waiting === 2);
  gate.resolve(undefined);
  vaults.beforeViewers = () => undefined;
  await until("it is asked once more", () => vaults.viewersAsked === before + 3);
  t.notOk((await pushesUpTo(device)).some(({ record_id }) => String(record_id).startsWith("later")));
  t.equal(vaults.viewersAsked, before + 4, "and the mark's");
});

await t.test("an import is a push for every record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const ids = Array.from({ length: 1000 }, () => randomUUID());
  const updated_at = moment();
  await vaults.tell({
    vault_id: vaultId,
    changes: ids.map((record_id) => ({ action: "record_created", record_id, updated_at })),
  });
  t.same(
    (await pushesUpTo(device)).map(({ record_id }) => record_id),
    ids,
  );
});

await t.test("how long a push took is measured", async (t) => {
  const text = await metrics();
  const count = Number(/coffer_sync_push_latency_seconds_count\{service="sync"\} (\d+)/.exec(text)?.[1]);
  t.ok(count > 1000, `${count}`);
  t.match(text, /coffer_sync_push_latency_seconds_bucket\{le="0.25",service="sync"\} [1-9]/);
});
