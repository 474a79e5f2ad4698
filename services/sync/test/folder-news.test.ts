import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import type { TestScope } from "@coffer/testkit";
import { until } from "@coffer/testkit";
import type { FolderNews } from "../src/pushes/push.ts";
import type { Timings } from "../src/timings.ts";
import type { Person } from "./support/auth-sm.ts";
import { startReplica, startSync } from "./support/start.ts";
import { moment } from "./support/vaults.ts";
import { createViewers } from "./support/viewers.ts";

// What is told of folders although no event has told it.

const sync = await startSync(t, { timings: { news: 300, newsAgain: 50, startOver: 300 } });
const { authSm, vaults, connect, nats } = sync;
const { viewer, pushesUpTo } = createViewers(sync);
t.afterEach(() => {
  authSm.folderNews = () => ({});
  authSm.beforeHolders = () => undefined;
});
const notNow = (): never => {
  throw new ServiceError("unavailable", "not now");
};

/** Somebody who may see a new folder, and the news of it. */
async function holder() {
  const folderId = randomUUID();
  const device = await viewer(randomUUID());
  authSm.holders.set(folderId, [device.userId]);
  const news = (change: FolderNews["change"], fields: Partial<FolderNews> = {}): FolderNews => ({
    id: randomUUID(),
    folder_id: folderId,
    change,
    updated_at: moment(),
    user_ids: [],
    ...fields,
  });
  return { device, folderId, news };
}
/** Resolves when it was asked twice more: whatever it has answered until now is pushed. */
async function askedTwice(): Promise<void> {
  const asked = authSm.folderNewsAsked.length;
  await until("it is asked twice more", () => authSm.folderNewsAsked.length >= asked + 2);
}

await t.test("a change that was told by no event is pushed, once, to who may see the folder or lost it", async (t) => {
  const { device, folderId, news } = await holder();
  const [lost, other] = [await viewer(randomUUID()), await viewer(randomUUID())];
  const [key, members] = [news("key"), news("membership", { user_ids: [lost.userId] })];
  authSm.folderNews = (since, after) => {
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
  await askedTwice();
  t.equal((await pushesUpTo(device)).length, 2);
  t.same(await pushesUpTo(other), []);
});

await t.test("who may see the folder is asked when it is told again", async (t) => {
  const { device, folderId, news } = await holder();
  authSm.holders.set(folderId, []);
  const missed = news("secrets");
  authSm.folderNews = () => ({ folders: [missed] });
  await askedTwice();
  t.same(await pushesUpTo(device), []);
});

await t.test("what an event has told is not told again, but what another of the same folder tells", async (t) => {
  const { device, news } = await holder();
  const [heard, lost] = [news("secrets"), news("secrets")];
  await authSm.tell(heard);
  await until("it is there", () => device.pushes().length === 1);
  authSm.folderNews = () => ({ folders: [heard] });
  await askedTwice();
  t.equal((await pushesUpTo(device)).length, 1);
  const earlier = { ...lost, updated_at: "2026-11-20T10:00:00.000001Z" };
  authSm.folderNews = () => ({ folders: [heard, earlier] });
  await until("the earlier is there", () =>
    device.pushes().some(({ updated_at }) => updated_at === earlier.updated_at),
  );
  t.equal((await pushesUpTo(device)).length, 2);
});

await t.test("the question continues where the last answer ended, and begins again where one failed", async (t) => {
  await holder();
  authSm.folderNews = () => ({ until: "here" });
  await until("it is asked from there", () => authSm.folderNewsAsked.at(-1) === "here");
  authSm.folderNews = notNow;
  await askedTwice();
  t.same(authSm.folderNewsAsked.slice(-2), ["here", "here"]);
});

await t.test("a change of which nobody could say who may know is told when somebody can", async (t) => {
  const { device, news } = await holder();
  let failures = 0;
  authSm.beforeHolders = () => {
    failures += 1;
    notNow();
  };
  const change = news("key");
  authSm.folderNews = () => ({ folders: [change] });
  await authSm.tell(change);
  await until("it was asked in vain", () => failures > 2);
  t.same(device.pushes(), []);
  authSm.beforeHolders = () => undefined;
  await until("it is there", () => device.pushes().length === 1);
});

await t.test("the moment from when on it is asked is noted before a device is answered", async (t) => {
  const other = await startSync(t);
  const { folderNewsAsked } = other.authSm;
  await until("it was asked when nobody was there", () => folderNewsAsked.length > 0);
  const before = folderNewsAsked.length;
  const device = await other.connect(other.authSm.person());
  await device.sync();
  t.same(folderNewsAsked.slice(before), [null]);
});

/** A replica that nobody has told yet from when on it is asked, with whom it talks to. */
async function startInVain(t: TestScope, timings: Partial<Timings>) {
  const other = await startSync(t, { timings });
  other.authSm.folderNews = notNow;
  const replica = await startReplica(t, other, { timings });
  await until("it is on the bus", async () => (await replica.service.ready()).degraded === false);
  return { ...other, connect: (person: Person) => other.connect(person, undefined, replica) };
}

await t.test("an auth-sm that cannot say it, as one of an earlier version, holds up no answer", async (t) => {
  const { authSm, connect } = await startInVain(t, { news: 300, newsAgain: 50 });
  const person = authSm.person();
  const device = await connect(person);
  t.match(await device.sync(), { type: "sync_response" });
  const folder_id = randomUUID();
  authSm.holders.set(folder_id, [person.userId]);
  const change = { id: randomUUID(), folder_id, change: "key" as const, updated_at: moment(), user_ids: [] };
  authSm.folderNews = (since) => (since === null ? { until: "then" } : { folders: since === "then" ? [change] : [] });
  await until("it is asked again, and what has changed since is told", () => device.pushes().length === 1);
});

await t.test("who did not say it when last asked is not waited for", async (t) => {
  const hour = 3_600_000;
  const { authSm, connect } = await startInVain(t, { news: hour, newsAgain: hour });
  t.match(await (await connect(authSm.person())).sync(), { type: "sync_response" });
  // From now on it does not even refuse.
  const gate = Promise.withResolvers<object>();
  authSm.folderNews = () => gate.promise;
  const asked = authSm.folderNewsAsked.length;
  t.match(await (await connect(authSm.person())).sync(), { type: "sync_response" });
  t.equal(authSm.folderNewsAsked.length, asked);
  gate.resolve({});
});

await t.test("who connects when nobody can say it is told from a moment on that was noted before", async (t) => {
  const other = await startSync(t, { timings: { news: 300, newsAgain: 50 } });
  const { authSm: asked } = other;
  asked.folderNews = () => ({ until: "before" });
  const count = asked.folderNewsAsked.length;
  await until("it is noted when nobody is there", () => asked.folderNewsAsked.length >= count + 2);
  asked.folderNews = notNow;
  const device = await other.connect(asked.person());
  t.match(await device.sync(), { type: "sync_response" });
  asked.folderNews = () => ({});
  await until("it is asked from there", () => asked.folderNewsAsked.includes("before"));
});

await t.test("what was told while the bus was away is pushed when it is back", async (t) => {
  const { device, news } = await holder();
  await nats.stop();
  await until("the bus is away", async () => (await sync.service.ready()).checks["nats"] === "down");
  const change = news("metadata");
  authSm.folderNews = (since) => (since === null ? {} : { folders: [change] });
  await nats.start();
  await until("all are back", () => authSm.bus.connected && vaults.bus.connected);
  await until("it is there", () => device.pushes().length === 1);
  t.match(device.pushes(), [{ change: "metadata" }]);
});

await t.test("when it is not known any more what was told, all connections start over", async (t) => {
  const { device } = await holder();
  authSm.folderNews = (since) => ({ reset: since !== null, until: "later" });
  t.match(await device.closed(), { code: 1012 });
  authSm.folderNews = () => ({});
  const again = await connect(authSm.person());
  t.match(await again.sync(), { type: "sync_response" });
});
