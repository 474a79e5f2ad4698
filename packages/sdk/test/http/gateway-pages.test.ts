import { newId } from "@coffer/crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { createClient, personClient } from "../../src/index.ts";
import { startCompany } from "../server/history-people.ts";
import { newFolder, newMachine } from "../server/machine.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json, startServer } from "../server/server.ts";
import { newDevice, world } from "../server/synced-device.ts";
import { newSession } from "../server/vault-server.ts";

// A gateway answers in the service's place, and as if all were well.

await t.test("a gateway's page, or an unexpected 304, is not an empty list", async (t) => {
  let bare = false;
  const { url } = await startServer(t, (_request, response) => {
    if (bare) response.writeHead(304).end();
    else json(response, 200, { status: "maintenance" });
  });
  for (const status of [200, 304]) {
    bare = status === 304;
    const me = personClient(await newSession(url), url);
    const machine = createClient(await newMachine(url, [newFolder("production")]));
    const asked: Record<string, () => Promise<unknown>> = {
      vaults: () => me.vaults.list(),
      "a vault's members": () => me.vaults.members(newId()),
      records: () => me.records.list(newId()),
      "a person's folders": () => me.secrets.folders(),
      "members of an organization": () => me.members.list(),
      "a machine's secrets": () => machine.list(),
      "a machine's folders": () => machine.folders(),
      "a search": () => machine.search("d"),
      "what is to be watched": () => machine.watch(() => undefined),
    };
    if (bare) await t.rejects(() => me.account(), { code: "bad_answer", status });
    for (const [what, answer] of Object.entries(asked))
      await t.rejects(answer, { code: "bad_answer", status }, `${what}, by ${status}`);
  }
});

await t.test("a gateway's page, or an unexpected 304, for the list of vaults removes nothing", async (t) => {
  for (const status of [200, 304]) {
    const { server } = await world(t);
    const { storage } = memoryStorage();
    let live = 0;
    const { sync, heard, said, away } = await newDevice(t, server, { storage, onLive: () => (live += 1) });
    await sync.ready;
    heard.length = 0;
    let asked = 0;
    server.instead.http = ({ path }, response) => {
      if (asked > 0 || !/vaults\?/.test(path)) return false;
      asked += 1;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(status === 304 ? undefined : JSON.stringify({ status: "maintenance" }));
      return true;
    };
    for (const socket of server.sockets) socket.terminate();
    await until("it has been told so", () => asked === 1 && away.length === 2);
    t.same([said(), sync.vaults().length, (await sync.records()).length], [[], 1, 2], `${status}`);
    await until("it is back", () => live === 2);
    await sync.stop();
    const again = await newDevice(t, server, { storage });
    t.same([said(), (await again.sync.records()).length], [[], 2], "nor from the storage");
  }
});

await t.test("a page in the place of a deletion's answer is no deletion", async (t) => {
  const { url } = await startServer(t, (_request, response) => json(response, 200, { status: "maintenance" }));
  const me = personClient(await newSession(url), url);
  const company = await startCompany(t);
  const alice = company.alice.client();
  const { id: team } = await alice.vaults.create("Team", { type: "shared" });
  const { session } = await company.join("bob@example.com");
  const bob = session.user.id;
  await alice.vaults.share(team, { userId: bob, permission: "read" });
  company.server.lie = ({ method }, { body }) => (method === "DELETE" ? { status: "maintenance" } : body);
  for (const remove of [
    () => me.vaults.remove(newId()),
    () => me.records.remove(newId(), newId()),
    () => alice.vaults.unshare(team, bob).then(() => undefined),
    () => me.machines.remove(newId(), newId()).then(() => undefined),
    () => alice.members.remove(bob).then(() => undefined),
    () => me.sessions.endOthers(),
  ])
    await t.rejects(remove, { code: "bad_answer", status: 200 }, String(remove));
});

await t.test("a page says nothing of travel mode", async (t) => {
  let page: object = { status: "maintenance" };
  const { url } = await startServer(t, (_request, response) => json(response, 200, page));
  const me = personClient(await newSession(url), url);
  const asked = [() => me.travel.start(), () => me.travel.status(), () => me.members.setTravel(newId(), true)];
  for (const ask of asked) await t.rejects(ask, { code: "bad_answer", status: 200 }, String(ask));
  page = { enabled: true, updated_at: "2026-11-20T10:00:00.000000Z" };
  for (const ask of asked) t.same(await ask(), page);
  page = { enabled: false, updated_at: "2026-11-20T10:00:00.000000Z" };
  t.same(await me.travel.status(), page);
  await t.rejects(me.travel.start(), { code: "bad_answer", message: "travel mode is not on, by the service's answer" });
  await t.rejects(me.members.setTravel(newId(), true), { code: "bad_answer" });
});

await t.test("a page in the place of its answer ends, changes, makes, shares and rotates nothing", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const { session } = await join("bob@example.com");
  const userId = session.user.id;
  const me = alice.client();
  let page: object = { status: "maintenance" };
  server.lie = ({ method }, { body }) => (method === "GET" ? body : page);
  const rotate = (): Promise<unknown> => me.folders.rotate(id);
  const share = (): Promise<unknown> => me.folders.share(id, { userId, permission: "read" });
  const suspend = (): Promise<unknown> => me.members.update(userId, { status: "suspended" });
  for (const ask of [suspend, () => me.logout(), () => me.applications.create("api")])
    await t.rejects(ask, { code: "bad_answer" }, String(ask));
  await t.rejects(share, { code: "bad_answer" });
  await t.rejects(rotate, { code: "bad_answer" });
  page = { id, user_id: userId, status: "active", permission: "manage", key_version: 9 };
  for (const ask of [rotate, share, suspend]) await t.rejects(ask, { code: "bad_answer", status: 200 }, String(ask));
  page = { id: newId(), key_version: 2 };
  await t.rejects(rotate, { code: "bad_answer", message: /another object than/ });
  page = { user_id: userId, status: "suspended" };
  t.match(await suspend(), { status: "suspended" });
});
