import { until } from "@coffer/testkit";
import t from "tap";
import { memoryTrust, type OfflineStorage, type Sync, type SyncChange } from "../../src/index.ts";
import { type Company, type Member, startCompany } from "../server/history-people.ts";
import { memoryStorage } from "../server/memory-storage.ts";

// A device follows a shared vault through rotations, and loses nothing.

const login = (name: string) => ({ type: "login", fields: { name, password: "s3cret" } });

interface Device {
  sync: Sync;
  said: string[];
  unreadable: string[];
  names(): Promise<string[]>;
}

async function follow(
  t: { teardown(work: () => Promise<void>): void },
  { client }: Member,
  storage?: OfflineStorage,
): Promise<Device> {
  const [said, unreadable]: [string[], string[]] = [[], []];
  const inShort = (change: SyncChange): string =>
    "record" in change ? `${change.action} ${change.record.fields["name"] ?? ""}` : change.action;
  const sync = await client().sync({
    storage,
    onChange: (changes) => said.push(...changes.map(inShort)),
    onUnreadable: (_id, { code }) => unreadable.push(code),
  });
  t.teardown(() => sync.stop());
  const names = async (): Promise<string[]> => (await sync.records()).map(({ fields }) => fields["name"] ?? "").sort();
  return { sync, said, unreadable, names };
}

/** A vault of alice's that bob may write into, with two records. */
async function shared(t: Parameters<typeof startCompany>[0]): Promise<Company & { bob: Member; id: string }> {
  const company = await startCompany(t);
  const { id } = await company.alice.client().vaults.create("Team", { type: "shared" });
  await company.alice.client().records.import(id, [login("one"), login("two")]);
  const bob = await company.join("bob@example.com");
  await company.alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "write" });
  await bob.client().vaults.accept(id);
  return { ...company, bob, id };
}

await t.test("a rotation while the device is connected changes nothing that it holds", async (t) => {
  const { alice, bob, id } = await shared(t);
  const device = await follow(t, bob);
  await device.sync.ready;
  await alice.client().vaults.rotate(id);
  await until("it holds the new key", () => device.sync.vaults()[0]?.key_version === 2);
  await until("and all records under it", async () => (await device.names()).length === 2);
  await alice.client().records.create(id, login("three"));
  await until("what comes next opens", () => device.said.includes("record_created three"));
  t.same(await device.names(), ["one", "three", "two"]);
});

await t.test("a rotation while the device is away is read before its changes", async (t) => {
  const { alice, bob, id, server } = await shared(t);
  const { storage } = memoryStorage();
  const first = await follow(t, bob, storage);
  await first.sync.ready;
  await first.sync.stop();
  await alice.client().vaults.rotate(id);
  await alice.client().records.create(id, login("three"));
  const again = await follow(t, bob, storage);
  await again.sync.ready;
  t.same(await again.names(), ["one", "three", "two"]);
  t.same(again.unreadable, []);
  t.same(
    again.said.filter((one) => one.startsWith("record_created")),
    ["record_created three"],
  );
  t.equal(server.histories.get(`vault:${id}`)?.state.ver, 2);
});

await t.test("a rotation between an answer and its vaults' keys loses nothing", async (t) => {
  const { alice, bob, id, server } = await shared(t);
  let rotated = false;
  // The answer is written, and the key changes before the device asks for it.
  server.beforeAnswer = async () => {
    if (rotated) return;
    rotated = true;
    await alice.client().vaults.rotate(id);
  };
  const device = await follow(t, bob);
  await device.sync.ready;
  await until("all records open", async () => (await device.names()).length === 2);
  await until("and were told as new", () => device.said.filter((one) => one.startsWith("record_created")).length === 2);
  t.same(device.said.sort(), ["record_created one", "record_created two", "vault_created"]);
});

await t.test("a record that came before its vault's new key is reported when the key is there", async (t) => {
  const { alice, bob, id, server } = await shared(t);
  const device = await follow(t, bob);
  await device.sync.ready;
  server.pushes = false;
  const { id: record } = await alice.client().records.create(id, login("three"));
  await alice.client().vaults.rotate(id);
  const { updated_at } = server.records.get(record) ?? { updated_at: "" };
  const about = { type: "push", vault_id: id, updated_at };
  server.push(bob.session.user.id, { ...about, action: "record_created", record_id: record });
  await until("it does not open yet", () => device.unreadable.length > 0);
  t.notOk(device.said.includes("record_created three"));
  server.push(bob.session.user.id, { ...about, action: "vault_updated", record_id: null });
  await until("it is told", () => device.said.includes("record_created three"));
  await until("the others are under it too", async () => (await device.names()).join() === "one,three,two");
});

await t.test("a vault that another person shared is reported once it is accepted", async (t) => {
  const { alice, join, id } = await shared(t);
  const carol = await join("carol@example.com");
  const me = carol.client();
  const [said, unreadable]: [string[], string[]] = [[], []];
  const sync = await me.sync({
    onChange: (changes) => said.push(...changes.map(({ action }) => action)),
    onUnreadable: (_id, { code }) => unreadable.push(code),
  });
  t.teardown(() => sync.stop());
  await sync.ready;
  await alice.client().vaults.share(id, { userId: carol.session.user.id, permission: "read" });
  await until("it is there", () => unreadable.length >= 2);
  t.same([...new Set(unreadable)], ["not_accepted"]);
  t.match(sync.vaults(), [{ name: "Team", problem: "not_accepted" }]);
  t.same(said, ["vault_created"]);
  await me.vaults.accept(id);
  await until("its records are told", () => said.length === 3);
  t.same(said, ["vault_created", "record_created", "record_created"]);
  t.match(sync.vaults(), [{ name: "Team", problem: null }]);
});

await t.test("a service that hands out another key has nothing opened, and what is held comes back", async (t) => {
  const { alice, bob, id, server } = await shared(t);
  const { storage } = memoryStorage();
  const trap = await alice.client().vaults.create("Trap", { type: "shared" });
  const foreign = server.vaults.get(trap.id)?.members[0]?.encrypted_key;
  server.lie = ({ path, method }, { body }) => {
    const list = (body ?? {}) as { data?: object[] };
    if (method !== "GET" || !path.startsWith("/api/vaults?")) return body;
    return { data: list.data?.map((one) => ({ ...one, encrypted_key: foreign })) };
  };
  const first = await follow(t, bob, storage);
  await first.sync.ready;
  t.same(await first.names(), []);
  t.same([...new Set(first.unreadable)], ["not_decrypted"]);
  await first.sync.stop();
  server.lie = (_request, { body }) => body;
  const again = await follow(t, bob, storage);
  await again.sync.ready;
  t.same(again.said.sort(), ["record_created one", "record_created two", "vault_updated"]);
  await again.sync.stop();
  t.same((await follow(t, bob, storage).then(async (third) => (await third.sync.ready, third))).said, [], "once");
  t.equal(id, again.sync.vaults()[0]?.id);
});

await t.test("a device that is not connected opens what it holds by what it trusts", async (t) => {
  const { bob, server } = await shared(t);
  const { storage } = memoryStorage();
  const first = await follow(t, bob, storage);
  await first.sync.ready;
  await first.sync.stop();
  server.answer = () => Promise.resolve({ status: 503, body: { error: "unavailable", message: "away" } });
  server.received.length = 0;
  const away = await follow(t, bob, storage);
  t.same(await away.names(), ["one", "two"]);
  // The connection asks for the list of vaults, at its own time.
  const asked = server.received.map(({ path }) => path).filter((path) => !path.startsWith("/api/vaults?"));
  t.same(asked, []);
  const strange = await follow(
    t,
    { ...bob, client: (options) => bob.client({ ...options, trust: memoryTrust() }) },
    storage,
  );
  t.same(await strange.names(), [], "a device that trusts nothing opens nothing");
});
