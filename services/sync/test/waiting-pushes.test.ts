import { randomUUID } from "node:crypto";
import { folderChanged } from "@coffer/events";
import t from "tap";
import { until } from "@coffer/testkit";
import type { VaultEvent } from "../src/pushes/push.ts";
import { startSync } from "./support/start.ts";
import { moment, nothing } from "./support/vaults.ts";
import { createViewers, recordEvent } from "./support/viewers.ts";

// When a push is sent, and how waiting pushes are collapsed.

const sync = await startSync(t);
const { authSm, vaults, connect } = sync;
const { viewer, pushesUpTo } = createViewers(sync);
t.afterEach(() => {
  vaults.changes = nothing;
});

/** The device sends a request whose second part comes when the latch opens: pushes wait until then. */
async function heldInAnswer(device: { send(message: object): void }) {
  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async ({ after }) => {
    if (after === null) return { ...nothing(), after: "next" };
    await latch.promise;
    return nothing();
  };
  const requests = vaults.requests.length;
  device.send({ type: "sync_request" });
  await until("the second part is requested", () => vaults.requests.length === requests + 2);
  return latch;
}

await t.test("pushes start when the first sync_response is out", async (t) => {
  const vaultId = randomUUID();
  const person = authSm.person();
  vaults.viewers.set(vaultId, [person.userId]);
  const device = await connect(person);
  const observer = await viewer(vaultId);
  await vaults.publish(recordEvent(vaultId, "in the response"), {
    action: "vault_updated",
    vault_id: vaultId,
    updated_at: moment(),
    user_ids: null,
  });
  await until("others have it", () => observer.pushes().length === 2);
  t.same(device.messages, []);

  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await latch.promise;
    return nothing();
  };
  const requests = vaults.requests.length;
  device.send({ type: "sync_request" });
  await until("a part is requested", () => vaults.requests.length > requests);
  await vaults.publish(recordEvent(vaultId, "in between"));
  await until("others have it", () => observer.pushes().length === 3);
  t.same(device.messages, []);
  latch.resolve(undefined);
  await until("all is there", () => device.messages.length === 3);
  t.match(device.messages, [
    { type: "sync_response" },
    { type: "push", action: "vault_updated" },
    { type: "push", record_id: "in between" },
  ]);
});

await t.test("pushes during an answer wait behind it, collapsed by record", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const observer = await viewer(vaultId);
  const latch = await heldInAnswer(device);
  const times = ["1", "2", "3"].map((digit) => `2026-11-20T10:00:00.00000${digit}Z`);
  const [one = "", two = "", three = ""] = times;
  device.send("{");
  for (const event of [
    recordEvent(vaultId, "a", one),
    recordEvent(vaultId, "b", one),
    recordEvent(vaultId, "a", three),
    recordEvent(vaultId, "b", two),
  ]) {
    await vaults.publish(event);
    const { updated_at } = event.changes[0] ?? {};
    await until("others have it", () =>
      observer
        .pushes()
        .some((push) => push.record_id === event.changes[0]?.record_id && push.updated_at === updated_at),
    );
  }
  // Events of a vault may come in another order than they happened.
  for (const [index, updated_at] of [two, one].entries()) {
    await vaults.publish({ action: "vault_updated", vault_id: vaultId, updated_at, user_ids: null });
    await until("others have it", () => observer.pushes().length === 5 + index);
  }
  t.same(device.messages.slice(1), []);
  latch.resolve(undefined);
  await until("all is there", () => device.messages.length === 6);
  t.match(device.messages.slice(1), [
    { type: "sync_response" },
    { type: "error" },
    { type: "push", record_id: "a", updated_at: three },
    { type: "push", record_id: "b", updated_at: two },
    { type: "push", action: "vault_updated", updated_at: two },
  ]);
});

await t.test("for a vault that is lost meanwhile only the loss is pushed", async (t) => {
  const [lost, other] = [randomUUID(), randomUUID()];
  const person = authSm.person();
  vaults.viewers.set(other, [person.userId]);
  const device = await viewer(lost, person);
  const observer = await viewer(lost);
  vaults.viewers.set(other, [person.userId, observer.userId]);
  const latch = await heldInAnswer(device);
  const event = (action: VaultEvent["action"], user_ids: string[] | null): VaultEvent => ({
    action,
    vault_id: lost,
    updated_at: moment(),
    user_ids,
  });
  const given = event("vault_created", [person.userId]);
  const changed = event("vault_updated", null);
  await vaults.publish(given, changed, recordEvent(lost, "of the lost one"), recordEvent(other, "of the other"));
  await until("others have it", () => observer.pushes().length === 3);
  vaults.viewers.set(lost, [observer.userId]);
  await vaults.publish(event("vault_deleted", [person.userId]), recordEvent(lost, "later"), recordEvent(other, "last"));
  await until("others have what came later", () => observer.pushes().some(({ record_id }) => record_id === "last"));
  latch.resolve(undefined);
  await until("the last is there", () => device.pushes().some(({ record_id }) => record_id === "last"));
  t.match(
    [...device.pushes()].sort((a, b) => String(a.record_id).localeCompare(String(b.record_id))),
    [
      { action: "record_updated", vault_id: other, record_id: "last" },
      { action: "vault_deleted", vault_id: lost },
      { action: "record_updated", vault_id: other, record_id: "of the other" },
    ],
  );
});

await t.test("the newest queued push of a folder stays, in any order of arrival", async (t) => {
  const folderId = randomUUID();
  const [device, observer] = [await viewer(randomUUID()), await viewer(randomUUID())];
  authSm.holders.set(folderId, [device.userId, observer.userId]);
  const latch = await heldInAnswer(device);
  const [earlier, later] = [moment(), moment()];
  for (const [index, updated_at] of [later, earlier].entries()) {
    authSm.bus.publish(folderChanged, { folder_id: folderId, change: "key", updated_at, user_ids: [] });
    await authSm.bus.flush();
    await until("others have it", () => observer.pushes().length === index + 1);
  }
  latch.resolve(undefined);
  await until("it is pushed", () => device.pushes().length > 0);
  t.match(await pushesUpTo(device), [{ action: "folder_updated", updated_at: later }]);
});

await t.test("more than 1 MiB of collapsed pushes that wait: closed with 1013", async (t) => {
  const vaultId = randomUUID();
  const device = await viewer(vaultId);
  const patient = await viewer(vaultId);
  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await latch.promise;
    return nothing();
  };
  const requests = vaults.requests.length;
  device.send({ type: "sync_request" });
  await until("a part is requested", () => vaults.requests.length > requests);
  const changes = () =>
    Array.from({ length: 1000 }, () => ({
      action: "record_created" as const,
      record_id: randomUUID(),
      updated_at: moment(),
    }));
  // About 190 bytes each: the fifth thousand fits, the sixth does not.
  for (let thousand = 1; thousand <= 5; thousand += 1) {
    await vaults.publish({ vault_id: vaultId, changes: changes() });
    await until("others have it", () => patient.pushes().length === thousand * 1000);
  }
  t.equal(device.socket.readyState, 1);
  await vaults.publish({ vault_id: vaultId, changes: changes() });
  t.match(await device.closed(), { code: 1013, reason: "the client does not read its messages" });
  latch.resolve(undefined);
  t.equal(patient.socket.readyState, 1);
});
