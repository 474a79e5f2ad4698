import { randomUUID } from "node:crypto";
import { folderChanged } from "@coffer/events";
import t from "tap";
import { until } from "@coffer/testkit";
import type { VaultNews } from "../src/pushes/push.ts";
import { startSync } from "./support/start.ts";
import { moment, nothing } from "./support/vaults.ts";
import { createViewers, recordNews } from "./support/viewers.ts";

// When a push is sent, and what becomes of those that wait.

const sync = await startSync(t);
const { authSm, vaults, connect } = sync;
const { viewer, pushesUpTo } = createViewers(sync);
t.afterEach(() => {
  vaults.changes = nothing;
});

/** The device asks, and gets the second part of its answer when the gate opens: until then pushes wait behind it. */
async function heldInAnswer(device: { send(message: object): void }) {
  const gate = Promise.withResolvers<undefined>();
  vaults.changes = async ({ after }) => {
    if (after === null) return { ...nothing(), after: "next" };
    await gate.promise;
    return nothing();
  };
  const asked = vaults.asked.length;
  device.send({ type: "sync_request" });
  await until("the second part is asked", () => vaults.asked.length === asked + 2);
  return gate;
}

await t.test("pushes start when the first sync_response is out", async (t) => {
  const vaultId = randomUUID();
  const person = authSm.person();
  vaults.viewers.set(vaultId, [person.userId]);
  const device = await connect(person);
  const observer = await viewer(vaultId);
  await vaults.tell(recordNews(vaultId, "in the answer"), {
    action: "vault_updated",
    vault_id: vaultId,
    updated_at: moment(),
    user_ids: null,
  });
  await until("others have it", () => observer.pushes().length === 2);
  t.same(device.messages, []);

  const gate = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await gate.promise;
    return nothing();
  };
  const asked = vaults.asked.length;
  device.send({ type: "sync_request" });
  await until("it is asked", () => vaults.asked.length > asked);
  await vaults.tell(recordNews(vaultId, "in between"));
  await until("others have it", () => observer.pushes().length === 3);
  t.same(device.messages, []);
  gate.resolve(undefined);
  await until("all is there", () => device.messages.length === 3);
  t.match(device.messages, [
    { type: "sync_response" },
    { type: "push", action: "vault_updated" },
    { type: "push", record_id: "in between" },
  ]);
});

await t.test("whatever comes while an answer is being sent waits behind it, collapsed by record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const observer = await viewer(vaultId);
  const gate = await heldInAnswer(device);
  const times = ["1", "2", "3"].map((digit) => `2026-11-20T10:00:00.00000${digit}Z`);
  const [one = "", two = "", three = ""] = times;
  device.send("{");
  for (const news of [
    recordNews(vaultId, "a", one),
    recordNews(vaultId, "b", one),
    recordNews(vaultId, "a", three),
    recordNews(vaultId, "b", two),
  ]) {
    await vaults.tell(news);
    const { updated_at } = news.changes[0] ?? {};
    await until("others have it", () =>
      observer.pushes().some((push) => push.record_id === news.changes[0]?.record_id && push.updated_at === updated_at),
    );
  }
  // Events of a vault may come in another order than they happened.
  for (const [index, updated_at] of [two, one].entries()) {
    await vaults.tell({ action: "vault_updated", vault_id: vaultId, updated_at, user_ids: null });
    await until("others have it", () => observer.pushes().length === 5 + index);
  }
  t.same(device.messages.slice(1), []);
  gate.resolve(undefined);
  await until("all is there", () => device.messages.length === 6);
  t.match(device.messages.slice(1), [
    { type: "sync_response" },
    { type: "error" },
    { type: "push", record_id: "a", updated_at: three },
    { type: "push", record_id: "b", updated_at: two },
    { type: "push", action: "vault_updated", updated_at: two },
  ]);
});

await t.test("of a vault that is lost meanwhile nothing goes out but that", async (t) => {
  const [lost, kept] = [randomUUID(), randomUUID()];
  const person = authSm.person();
  vaults.viewers.set(kept, [person.userId]);
  const device = await viewer(lost, person);
  const observer = await viewer(lost);
  vaults.viewers.set(kept, [person.userId, observer.userId]);
  const gate = await heldInAnswer(device);
  const news = (action: VaultNews["action"], user_ids: string[] | null): VaultNews => ({
    action,
    vault_id: lost,
    updated_at: moment(),
    user_ids,
  });
  const given = news("vault_created", [person.userId]);
  const changed = news("vault_updated", null);
  await vaults.tell(given, changed, recordNews(lost, "of the lost one"), recordNews(kept, "of the other"));
  await until("others have it", () => observer.pushes().length === 3);
  vaults.viewers.set(lost, [observer.userId]);
  await vaults.tell(news("vault_deleted", [person.userId]), recordNews(lost, "later"), recordNews(kept, "last"));
  await until("others have what came later", () => observer.pushes().some(({ record_id }) => record_id === "last"));
  gate.resolve(undefined);
  await until("the last is there", () => device.pushes().some(({ record_id }) => record_id === "last"));
  t.match(
    [...device.pushes()].sort((a, b) => String(a.record_id).localeCompare(String(b.record_id))),
    [
      { action: "record_updated", vault_id: kept, record_id: "last" },
      { action: "vault_deleted", vault_id: lost },
      { action: "record_updated", vault_id: kept, record_id: "of the other" },
    ],
  );
});

await t.test("of what waits about one folder the newest stays, in whichever order it is heard of", async (t) => {
  const folderId = randomUUID();
  const [device, observer] = [await viewer(randomUUID()), await viewer(randomUUID())];
  authSm.holders.set(folderId, [device.userId, observer.userId]);
  const gate = await heldInAnswer(device);
  const [earlier, later] = [moment(), moment()];
  for (const [index, updated_at] of [later, earlier].entries()) {
    authSm.bus.publish(folderChanged, { folder_id: folderId, change: "key", updated_at, user_ids: [] });
    await authSm.bus.flush();
    await until("others have it", () => observer.pushes().length === index + 1);
  }
  gate.resolve(undefined);
  await until("it is told", () => device.pushes().length > 0);
  t.match(await pushesUpTo(device), [{ action: "folder_updated", updated_at: later }]);
});

await t.test("more than 1 MiB of collapsed pushes that wait: closed with 1013", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const patient = await viewer(vaultId);
  const gate = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await gate.promise;
    return nothing();
  };
  const asked = vaults.asked.length;
  device.send({ type: "sync_request" });
  await until("it is asked", () => vaults.asked.length > asked);
  const changes = () =>
    Array.from({ length: 1000 }, () => ({
      action: "record_created" as const,
      record_id: randomUUID(),
      updated_at: moment(),
    }));
  // Some 190 bytes each: the fifth thousand is within, the sixth over it.
  for (let thousand = 1; thousand <= 5; thousand += 1) {
    await vaults.tell({ vault_id: vaultId, changes: changes() });
    await until("others have it", () => patient.pushes().length === thousand * 1000);
  }
  t.equal(device.socket.readyState, 1);
  await vaults.tell({ vault_id: vaultId, changes: changes() });
  t.match(await device.closed(), { code: 1013, reason: /waits/ });
  gate.resolve(undefined);
  t.equal(patient.socket.readyState, 1);
});
