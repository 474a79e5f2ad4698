import t from "tap";
import { contexts, newKey, seal } from "@coffer/crypto";
import { until } from "@coffer/testkit";
import { personClient } from "../src/index.ts";
import type { KnownVaultKeys } from "../src/index.ts";
import type { RecordView, VaultView } from "../src/vaults/views.ts";
import { memoryStorage } from "./memory-storage.ts";
import { newDevice, world } from "./synced-device.ts";
import type { VaultServer } from "./vault-server.ts";

// A service that hands out a key of its own making in place of a vault's: it could read what is sealed under it.

const login = { type: "login", fields: { name: "Example", password: "s3cret" } };
const refused = { code: "not_decrypted", message: /another key for the vault Private than before/ };

/** Puts a key that the service knows in the place of the vault's, sealed as a colleague would have who shares it. */
async function replaceKey(server: VaultServer, vaultId: string, type = "shared"): Promise<() => void> {
  const honest = server.vaults.get(vaultId) as NonNullable<ReturnType<typeof server.vaults.get>>;
  const encrypted_key = await seal(server.session.public_key, newKey(), contexts.vaultKey(vaultId));
  server.vaults.set(vaultId, { ...honest, type, encrypted_key });
  return () => server.vaults.set(vaultId, honest);
}

const writes = ({ received }: VaultServer): number => received.filter(({ method }) => method !== "GET").length;

await t.test("nothing is sealed under another key than a vault had before", async (t) => {
  const { server, vaultId, ids } = await world(t);
  const me = personClient(server.session, server.url);
  await me.vaults.list();
  const restore = await replaceKey(server, vaultId);
  const [vault] = await me.vaults.list();
  t.equal(vault?.name, "Private", "the list is no reason to fail");
  await t.rejects(me.records.create(vaultId, login), refused);
  await t.rejects(me.records.update(vaultId, ids[0] as string, login), refused);
  await t.rejects(me.records.list(vaultId), refused);
  await t.rejects(me.records.stableIds(vaultId, ["a"]), refused);
  t.match(await me.records.import(vaultId, [login]).catch((error: unknown) => error), refused);
  const request = { userId: "u", name: "bob", permission: "read" } as const;
  await t.rejects(
    me.vaults.share(vaultId, request, () => Promise.resolve(true)),
    refused,
  );
  t.equal(writes(server), 0);
  restore();
  t.match(await me.vaults.get(vaultId), { name: "Private" });
  t.match(await me.records.create(vaultId, login), login, "the right one is good again");
});

await t.test("the next run knows it too, where it is kept, by marks that say nothing of the vault", async (t) => {
  const { server, vaultId } = await world(t);
  const kept: Record<string, string> = {};
  let calls = 0;
  const knownVaultKeys: KnownVaultKeys = {
    load: () => Promise.resolve({ ...kept }),
    add(marks) {
      calls += 1;
      return Promise.resolve(Object.assign(kept, marks));
    },
  };
  const start = (): ReturnType<typeof personClient> => personClient(server.session, server.url, { knownVaultKeys });
  await start().vaults.list();
  t.equal(Object.keys(kept).length, 1);
  t.notOk(JSON.stringify(kept).includes(vaultId));
  await start().vaults.list();
  t.equal(calls, 1, "what is known is not written again");
  const restore = await replaceKey(server, vaultId);
  await t.rejects(start().records.create(vaultId, login), refused);
  t.equal(calls, 1, "nor what is refused");
  t.match(
    await personClient(server.session, server.url).records.create(vaultId, login),
    login,
    "at first sight nobody knows",
  );
  restore();
  const unreadable = { ...knownVaultKeys, load: () => Promise.reject(new RangeError("no")) };
  const blind = personClient(server.session, server.url, { knownVaultKeys: unreadable });
  t.match(await blind.vaults.list(), [{ name: "Private" }], "a list needs no key");
  const unknown = {
    code: "configuration",
    message: /key of the vault Private is not used, since it cannot be rem.*: no$/,
  };
  await t.rejects(blind.records.create(vaultId, login), unknown, "what cannot be read is not taken for nothing");
});

await t.test("a mark that could not be kept is kept the next time, and until then no key is used", async (t) => {
  const { server, vaultId } = await world(t);
  const kept: Record<string, string> = {};
  let full = true;
  const knownVaultKeys: KnownVaultKeys = {
    load: () => Promise.resolve({}),
    add: (marks) => (full ? Promise.reject(new RangeError("full")) : Promise.resolve(Object.assign(kept, marks))),
  };
  const me = personClient(server.session, server.url, { knownVaultKeys });
  const unkept = { code: "configuration", message: /the vault Private is not used, since it cannot be rem.*: full$/ };
  for (let times = 0; times < 2; times += 1) {
    t.match(await me.vaults.list(), [{ name: "Private" }], "a list needs no key");
    await t.rejects(me.records.create(vaultId, login), unkept);
    await t.rejects(me.records.list(vaultId), unkept);
  }
  t.equal(writes(server), 0);
  full = false;
  t.match(await me.vaults.get(vaultId), { name: "Private" });
  t.equal(Object.keys(kept).length, 1);
  t.match(await me.records.create(vaultId, login), login);
  full = true;
  const { id: later } = await me.vaults.create("Later");
  await t.rejects(me.records.create(later, login), { code: "configuration" });
  t.match(await me.vaults.get(vaultId), { name: "Private" });
  t.match(await me.records.create(vaultId, login), login, "the other vault is none the worse for it");
});

await t.test("a device goes on with what it cannot keep a mark of, and says of what it opens nothing", async (t) => {
  const { server, vaultId } = await world(t);
  const knownVaultKeys: KnownVaultKeys = {
    load: () => Promise.resolve({}),
    add: () => Promise.reject(new RangeError("full")),
  };
  const unreadable: string[] = [];
  const sync = await personClient(server.session, server.url, { knownVaultKeys }).sync({
    onUnreadable: (_id, { code }) => unreadable.push(code),
  });
  t.teardown(() => sync.stop());
  await Promise.race([sync.ready, sync.ended]);
  t.match(sync.vaults(), [{ id: vaultId }]);
  t.same(await sync.records(), []);
  t.ok(unreadable.length >= 2);
  t.same([...new Set(unreadable)], ["configuration"]);
});

await t.test("what a device cannot open for want of a vault's key it tells once the key can be used", async (t) => {
  const { server, vaultId, ids } = await world(t);
  const { storage } = memoryStorage();
  const kept: Record<string, string> = {};
  let full = true;
  const knownVaultKeys: KnownVaultKeys = {
    load: () => Promise.resolve({ ...kept }),
    add: (marks) => (full ? Promise.reject(new RangeError("full")) : Promise.resolve(Object.assign(kept, marks))),
  };
  /** What a run tells, and what it cannot open. */
  const run = async (): Promise<string[]> => {
    const said: string[] = [];
    const sync = await personClient(server.session, server.url, { knownVaultKeys }).sync({
      storage,
      onChange: (changes) => said.push(...changes.map(({ action }) => action)),
      onUnreadable: (_id, { code }) => said.push(code),
    });
    await sync.ready;
    await sync.stop();
    return said;
  };
  t.same(await run(), ["vault_created", "configuration", "configuration"]);
  full = false;
  t.same(await run(), ["record_created", "record_created"]);
  t.same(await run(), [], "once");
  const restore = await replaceKey(server, vaultId);
  server.put(server.records.get(ids[0] as string) as RecordView);
  t.same(await run(), ["vault_updated", "not_decrypted"]);
  server.put(server.records.get(ids[0] as string) as RecordView);
  t.same(await run(), ["not_decrypted"], "what has changed twice");
  restore();
  server.drop(ids[1] as string);
  t.same(await run(), ["vault_updated", "record_updated", "record_deleted"]);
  t.same(await run(), []);
});

await t.test("a vault without a key is no reason that the others cannot be listed", async (t) => {
  const { server, vaultId } = await world(t, 0);
  const { encrypted_key: _, ...keyless } = server.vaults.get(vaultId) as VaultView;
  server.vaults.set(vaultId, keyless as VaultView);
  const me = personClient(server.session, server.url);
  t.match(await me.vaults.list(), [{ id: vaultId }]);
  await t.rejects(me.records.create(vaultId, login), { code: "not_decrypted" });
});

await t.test(
  "of two programs that see a vault for the first time both believe the key that was kept first",
  async (t) => {
    const { server, vaultId } = await world(t);
    const kept: Record<string, string> = {};
    const knownVaultKeys: KnownVaultKeys = {
      // As when both have read it before either has kept anything.
      load: () => Promise.resolve({}),
      add: (marks) => Promise.resolve(Object.assign(kept, { ...marks, ...kept })),
    };
    const [one, two] = [1, 2].map(() => personClient(server.session, server.url, { knownVaultKeys })) as [
      ReturnType<typeof personClient>,
      ReturnType<typeof personClient>,
    ];
    await one.vaults.list();
    const restore = await replaceKey(server, vaultId);
    await t.rejects(two.records.create(vaultId, login), refused);
    restore();
    await two.vaults.list();
    t.match(await two.records.create(vaultId, login), login, "and that one is good in both");
    const silent = { ...knownVaultKeys, add: () => Promise.resolve({}) };
    const third = personClient(server.session, server.url, { knownVaultKeys: silent });
    await t.rejects(third.records.create(vaultId, login), {
      code: "configuration",
      message: /does not say what it holds/,
    });
  },
);

await t.test("a personal vault has the key that its maker gave it, also at first sight", async (t) => {
  const { server, vaultId } = await world(t, 0);
  await replaceKey(server, vaultId, "personal");
  const foreign = { code: "not_decrypted", message: /key of the personal vault Private was not sealed by you/ };
  const me = personClient(server.session, server.url);
  t.match(await me.vaults.list(), [{ name: "Private" }]);
  await t.rejects(me.records.create(vaultId, login), foreign);
  t.match(await me.records.import(vaultId, [login]).catch((error: unknown) => error), foreign);
  t.equal(writes(server), 0);

  const told = personClient(server.session, server.url);
  const view = server.vaults.get(vaultId) as NonNullable<ReturnType<typeof server.vaults.get>>;
  server.vaults.set(vaultId, { ...view, type: "shared" });
  t.match(await told.vaults.list(), [{ type: "shared" }], "a service that has it taken has to show it as shared");
  t.match(await told.records.create(vaultId, login), login);
  server.vaults.set(vaultId, view);
  await told.vaults.list();
  await t.rejects(told.records.create(vaultId, login), foreign, "and for as long");
});

await t.test("a device knows it, also of a vault that went and comes back, and after a restart", async (t) => {
  const { server, vaultId } = await world(t);
  const { storage } = memoryStorage();
  const first = await newDevice(t, server, { storage });
  await first.sync.ready;
  const view = server.vaults.get(vaultId) as NonNullable<ReturnType<typeof server.vaults.get>>;
  server.vaults.delete(vaultId);
  server.push({ type: "push", action: "vault_deleted", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is gone", () => first.said().includes("vault_deleted"));
  await first.sync.stop();

  server.vaults.set(vaultId, view);
  await replaceKey(server, vaultId);
  const unreadable: string[] = [];
  const again = await newDevice(t, server, { storage, onUnreadable: (_id, { message }) => unreadable.push(message) });
  await again.sync.ready;
  t.same(await again.sync.records(vaultId), []);
  t.match(unreadable[0], refused.message);
});
