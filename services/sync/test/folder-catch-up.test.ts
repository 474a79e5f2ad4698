import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { type TestScope, until } from "@coffer/testkit";
import type { FolderEvent } from "../src/pushes/push.ts";
import type { Timings } from "../src/timings.ts";
import type { Person } from "./support/auth-sm.ts";
import { startReplica, startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";
import { createViewers } from "./support/viewers.ts";

// Folder changes whose events were missed.

const sync = await startSync(t, { timings: { catchUp: 300, catchUpRetry: 50, startOver: 300 } });
const { authSm, vaults, connect, nats } = sync;
const { viewer, pushesUpTo } = createViewers(sync);
t.afterEach(() => {
  authSm.folderCatchUp = () => ({});
  authSm.beforeHolders = () => undefined;
});
const notNow = (): never => {
  throw new ServiceError("unavailable", "not now");
};

/** A device with a new folder that it may see, and a function for its events. */
async function holder() {
  const folderId = randomUUID();
  const device = await viewer(randomUUID());
  authSm.holders.set(folderId, [device.userId]);
  const eventOf = (change: FolderEvent["change"], fields: Partial<FolderEvent> = {}): FolderEvent => ({
    id: randomUUID(),
    folder_id: folderId,
    change,
    updated_at: moment(),
    user_ids: [],
    ...fields,
  });
  return { device, folderId, eventOf };
}
/** Resolves after two more requests: all earlier responses are pushed. */
async function twoMoreRequests(): Promise<void> {
  const requests = authSm.folderCatchUpRequests.length;
  await until("two more requests", () => authSm.folderCatchUpRequests.length >= requests + 2);
}

await t.test("a missed folder change is pushed once, to its holders and to those who lost it", async (t) => {
  const { device, folderId, eventOf } = await holder();
  const [lost, other] = [await viewer(randomUUID()), await viewer(randomUUID())];
  const [key, members] = [eventOf("key"), eventOf("membership", { user_ids: [lost.userId] })];
  authSm.folderCatchUp = (since, after) => {
    if (since === null) return {};
    return after === null ? { folders: [key], after: "more" } : { folders: [members] };
  };
  await until("all is there", () => device.pushes().length === 2 && lost.pushes().length === 1);
  const common = { type: "push", action: "folder_updated", record_id: null, vault_id: null, folder_id: folderId };
  t.strictSame(device.pushes(), [
    { ...common, updated_at: key.updated_at, change: "key" },
    { ...common, updated_at: members.updated_at, change: "membership" },
  ]);
  t.match(lost.pushes(), [{ folder_id: folderId, change: "membership" }]);
  await twoMoreRequests();
  t.equal((await pushesUpTo(device)).length, 2);
  t.same(await pushesUpTo(other), []);
});

await t.test("catch-up requests the holders again", async (t) => {
  const { device, folderId, eventOf } = await holder();
  authSm.holders.set(folderId, []);
  const missed = eventOf("secrets");
  authSm.folderCatchUp = () => ({ folders: [missed] });
  await twoMoreRequests();
  t.same(await pushesUpTo(device), []);
});

await t.test("catch-up skips a pushed folder event, but not another one of the folder", async (t) => {
  const { device, eventOf } = await holder();
  const [pushed, lost] = [eventOf("secrets"), eventOf("secrets")];
  await authSm.publish(pushed);
  await until("it is there", () => device.pushes().length === 1);
  authSm.folderCatchUp = () => ({ folders: [pushed] });
  await twoMoreRequests();
  t.equal((await pushesUpTo(device)).length, 1);
  const earlier = { ...lost, updated_at: "2026-11-20T10:00:00.000001Z" };
  authSm.folderCatchUp = () => ({ folders: [pushed, earlier] });
  await until("the earlier is there", () =>
    device.pushes().some(({ updated_at }) => updated_at === earlier.updated_at),
  );
  t.equal((await pushesUpTo(device)).length, 2);
});

await t.test("the next request continues where the last response ended, and repeats a failed one", async (t) => {
  await holder();
  authSm.folderCatchUp = () => ({ until: "here" });
  await until("the next request", () => authSm.folderCatchUpRequests.at(-1) === "here");
  authSm.folderCatchUp = notNow;
  await twoMoreRequests();
  t.same(authSm.folderCatchUpRequests.slice(-2), ["here", "here"]);
});

await t.test("a folder change with an unknown audience is pushed once the audience is known", async (t) => {
  const { device, eventOf } = await holder();
  let failures = 0;
  authSm.beforeHolders = () => {
    failures += 1;
    notNow();
  };
  const change = eventOf("key");
  authSm.folderCatchUp = () => ({ folders: [change] });
  await authSm.publish(change);
  await until("some requests fail", () => failures > 2);
  t.same(device.pushes(), []);
  authSm.beforeHolders = () => undefined;
  await until("it is there", () => device.pushes().length === 1);
});

await t.test("the start of the folder catch-up is set before a device is answered", async (t) => {
  const other = await startSync(t);
  const { folderCatchUpRequests } = other.authSm;
  await until("a request without connections", () => folderCatchUpRequests.length > 0);
  const before = folderCatchUpRequests.length;
  const device = await other.connect(other.authSm.person());
  await device.sync();
  t.same(folderCatchUpRequests.slice(before), [null]);
});

/** A new replica that has not set its start yet, with the other services. */
async function startInVain(t: TestScope, timings: Partial<Timings>) {
  const other = await startSync(t, { timings });
  other.authSm.folderCatchUp = notNow;
  const replica = await startReplica(t, other, { timings });
  await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
  return { ...other, connect: (person: Person) => other.connect(person, undefined, replica) };
}

await t.test("an auth-sm without the catch-up, as in an earlier version, delays no response", async (t) => {
  const { authSm, connect } = await startInVain(t, { catchUp: 300, catchUpRetry: 50 });
  const person = authSm.person();
  const device = await connect(person);
  t.match(await device.sync(), { type: "sync_response" });
  const folder_id = randomUUID();
  authSm.holders.set(folder_id, [person.userId]);
  const change = { id: randomUUID(), folder_id, change: "key" as const, updated_at: moment(), user_ids: [] };
  authSm.folderCatchUp = (since) =>
    since === null ? { until: "then" } : { folders: since === "then" ? [change] : [] };
  await until("it is requested again, and the changes since are pushed", () => device.pushes().length === 1);
});

await t.test("a response does not wait for an auth-sm that did not answer before", async (t) => {
  const hour = 3_600_000;
  const { authSm, connect } = await startInVain(t, { catchUp: hour, catchUpRetry: hour });
  t.match(await (await connect(authSm.person())).sync(), { type: "sync_response" });
  // Requests now time out.
  const latch = Promise.withResolvers<object>();
  authSm.folderCatchUp = () => latch.promise;
  const requests = authSm.folderCatchUpRequests.length;
  t.match(await (await connect(authSm.person())).sync(), { type: "sync_response" });
  t.equal(authSm.folderCatchUpRequests.length, requests);
  latch.resolve({});
});

await t.test("a device that connects while auth-sm is away catches up from an earlier moment", async (t) => {
  const other = await startSync(t, { timings: { catchUp: 300, catchUpRetry: 50 } });
  const { authSm: silent } = other;
  silent.folderCatchUp = () => ({ until: "before" });
  const count = silent.folderCatchUpRequests.length;
  await until("two requests without connections", () => silent.folderCatchUpRequests.length >= count + 2);
  silent.folderCatchUp = notNow;
  const device = await other.connect(silent.person());
  t.match(await device.sync(), { type: "sync_response" });
  silent.folderCatchUp = () => ({});
  await until("the next request", () => silent.folderCatchUpRequests.includes("before"));
});

await t.test("events during an outage of the bus are pushed when it is back", async (t) => {
  const { device, eventOf } = await holder();
  await nats.stop();
  await until("the bus is away", async () => (await sync.service.ready()).checks["nats"] === "down");
  const change = eventOf("metadata");
  authSm.folderCatchUp = (since) => (since === null ? {} : { folders: [change] });
  await nats.start();
  await until("all are back", () => authSm.bus.connected && vaults.bus.connected);
  await until("it is there", () => device.pushes().length === 1);
  t.match(device.pushes(), [{ change: "metadata" }]);
});

await t.test("if missed folder events are unknown, all connections are closed", async (t) => {
  const { device } = await holder();
  authSm.folderCatchUp = (since) => ({ reset: since !== null, until: "later" });
  t.match(await device.closed(), { code: 1012 });
  authSm.folderCatchUp = () => ({});
  const again = await connect(authSm.person());
  t.match(await again.sync(), { type: "sync_response" });
});
