import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { folderChanged } from "@coffer/events";
import t from "tap";
import { until } from "@coffer/testkit";
import { startReplica, startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";
import { createViewers, recordEvent } from "./support/viewers.ts";

// Which devices receive which push.

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
  await vaults.publish({ vault_id: vaultId, changes });
  t.strictSame(
    await pushesUpTo(device),
    changes.map((change) => ({ type: "push", ...change, vault_id: vaultId })),
  );
});

await t.test("the same record id in two vaults: both changes are pushed", async (t) => {
  const [one, other, id] = [randomUUID(), randomUUID(), randomUUID()];
  const device = await viewer(one);
  vaults.viewers.set(other, [device.userId]);
  const [earlier, later] = [moment(), moment()];
  await vaults.publish(recordEvent(one, id, later));
  await vaults.publish(recordEvent(other, id, earlier));
  const pushes = await pushesUpTo(device);
  t.same(
    pushes.map(({ vault_id }) => vault_id),
    [one, other],
  );
});

await t.test("a push about a vault names the vault and no record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const expected = [];
  for (const action of ["vault_created", "vault_updated", "vault_deleted"] as const) {
    const [updated_at, user_ids] = [moment(), action === "vault_updated" ? null : [device.userId]];
    vaults.viewers.set(vaultId, action === "vault_deleted" ? [] : [device.userId]);
    await vaults.publish({ action, vault_id: vaultId, updated_at, user_ids });
    expected.push({ type: "push", action, record_id: null, vault_id: vaultId, updated_at });
    await until("it is there", () => device.pushes().length === expected.length);
  }
  t.strictSame(await pushesUpTo(device), expected);
});

await t.test("a push about a folder names the folder and the change", async (t) => {
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
  t.strictSame(await pushesUpTo(gone), expected, "a named person receives it too");
  t.same(await pushesUpTo(other), []);
});

await t.test("a push goes to every connection of every viewer, on every replica, and to no other", async (t) => {
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
  await vaults.publish(recordEvent(vaultId, "shared-record"));
  for (const device of [first, second, elsewhere, member, third])
    await until("it is there", () => device.pushes().some(({ record_id }) => record_id === "shared-record"));
  t.same(await pushesUpTo(other), []);
});

await t.test("the viewers are requested when a push is sent", async (t) => {
  const vaultId = randomUUID();
  const [remaining, lost] = [await viewer(vaultId), await viewer(vaultId)];
  vaults.viewers.set(vaultId, [remaining.userId]);
  await vaults.publish(recordEvent(vaultId, "after"));
  t.match(await pushesUpTo(remaining), [{ record_id: "after" }]);
  t.same(await pushesUpTo(lost), []);

  const given = await viewer(randomUUID());
  const created = (user_ids: string[]) => ({
    action: "vault_created" as const,
    vault_id: vaultId,
    updated_at: moment(),
    user_ids,
  });
  await vaults.publish(created([given.userId]));
  t.same(await pushesUpTo(given), [], "a person who lost the vault again receives nothing");
  t.match(await pushesUpTo(remaining), [{ record_id: "after" }], "nor does a person who is not named");
  vaults.viewers.set(vaultId, [remaining.userId, given.userId]);
  await vaults.publish(created([given.userId]));
  t.match(await pushesUpTo(given), [{ action: "vault_created", vault_id: vaultId }]);

  await vaults.publish({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [lost.userId] });
  t.match(await pushesUpTo(lost), [{ action: "vault_deleted", vault_id: vaultId }]);
  t.notOk((await pushesUpTo(remaining)).some(({ action }) => action === "vault_deleted"));
});

await t.test("a change is one push for each person: vault_created for those who gained it", async (t) => {
  const vaultId = randomUUID();
  const [given, other] = [await viewer(vaultId), await viewer(vaultId)];
  const event = { vault_id: vaultId, updated_at: moment() };
  await vaults.publish({ ...event, action: "vault_created", user_ids: [given.userId] });
  await vaults.publish({ ...event, action: "vault_updated", user_ids: null, except: [given.userId] });
  const actions = async (device: typeof given) => (await pushesUpTo(device)).map(({ action }) => action);
  t.same(await actions(given), ["vault_created"]);
  t.same(await actions(other), ["vault_updated"]);
});

await t.test("vault_deleted is not pushed to a person who sees the vault again", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  await vaults.publish({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  t.same(await pushesUpTo(device), []);
});

await t.test("viewers are not requested for people without connections", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(randomUUID());
  const late = authSm.person();
  const before = vaults.viewerRequests;
  for (const action of ["vault_created", "vault_deleted"] as const)
    await vaults.publish({ action, vault_id: vaultId, updated_at: moment(), user_ids: [late.userId, randomUUID()] });
  await pushesUpTo(device);
  t.equal(vaults.viewerRequests, before + 1, "only for the mark's");

  // A device that connects during a request for viewers receives the push too.
  const latch = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    return latch.promise;
  };
  const user_ids = [late.userId, device.userId];
  vaults.viewers.set(vaultId, user_ids);
  await vaults.publish({ action: "vault_created", vault_id: vaultId, updated_at: moment(), user_ids });
  await until("the viewers are requested", () => waiting === 1);
  const other = await connect(late);
  await other.sync();
  latch.resolve(undefined);
  await until("both are notified", () => other.pushes().length === 1 && device.pushes().length > 0);
  t.match(other.pushes(), [{ action: "vault_created", vault_id: vaultId }]);
});

await t.test("no push about a vault follows its loss", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const latch = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    if (waiting === 3) vaults.viewers.set(vaultId, []);
    return waiting === 1 ? latch.promise : undefined;
  };
  await vaults.publish(recordEvent(vaultId, "before its loss"));
  await until("the viewers are requested", () => waiting === 1);
  await vaults.publish({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  await vaults.publish(recordEvent(randomUUID(), "another"));
  await until("the next viewers are requested", () => waiting === 2);
  latch.resolve(undefined);
  await until("both are there", () => device.pushes().length === 2);
  t.match(device.pushes(), [{ record_id: "before its loss" }, { action: "vault_deleted" }]);

  vaults.beforeViewers = () => {
    throw new ServiceError("unavailable", "not now");
  };
  await vaults.publish({ action: "vault_deleted", vault_id: vaultId, updated_at: moment(), user_ids: [device.userId] });
  await until("the loss is pushed also without vaults", () => device.pushes().length === 3);
});

await t.test("changes during a request for viewers share one further request", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const latch = Promise.withResolvers<undefined>();
  let waiting = 0;
  vaults.beforeViewers = () => {
    waiting += 1;
    return latch.promise;
  };
  const before = vaults.viewerRequests;
  await vaults.publish(recordEvent(vaultId, "first"));
  await until("the viewers are requested", () => waiting === 1);
  // The response in progress may be from before this change.
  vaults.viewers.set(vaultId, []);
  await vaults.publish(...Array.from({ length: 20 }, (_, index) => recordEvent(vaultId, `later-${index}`)));
  // The next event arrives after them.
  const other = randomUUID();
  await vaults.publish(recordEvent(other, "other"));
  await until("the other viewers are requested", () => waiting === 2);
  latch.resolve(undefined);
  vaults.beforeViewers = () => undefined;
  await until("one more request", () => vaults.viewerRequests === before + 3);
  t.notOk((await pushesUpTo(device)).some(({ record_id }) => String(record_id).startsWith("later")));
  t.equal(vaults.viewerRequests, before + 4, "and the mark's");
});

await t.test("an import is one push for each record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const ids = Array.from({ length: 1000 }, () => randomUUID());
  const updated_at = moment();
  await vaults.publish({
    vault_id: vaultId,
    changes: ids.map((record_id) => ({ action: "record_created", record_id, updated_at })),
  });
  t.same(
    (await pushesUpTo(device)).map(({ record_id }) => record_id),
    ids,
  );
});

await t.test("the duration of a push is measured", async (t) => {
  const text = await metrics();
  const count = Number(/coffer_sync_push_latency_seconds_count\{service="sync"\} (\d+)/.exec(text)?.[1]);
  t.ok(count > 1000, `${count}`);
  t.match(text, /coffer_sync_push_latency_seconds_bucket\{le="0.25",service="sync"\} [1-9]/);
});
