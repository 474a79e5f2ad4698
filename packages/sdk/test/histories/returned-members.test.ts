import { newId } from "@coffer/crypto";
import { cutName, type Resource } from "@coffer/history";
import t from "tap";
import type { PersonClient } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import {
  type Company,
  type Member,
  newJoinedMachine,
  signPastClients,
  startCompany,
  strangeKey,
} from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";

// A person is removed from the organization and returns with the same key. The service works with
// that person, and lists them for a folder or vault whose history no manager has changed since.

const notation = "coffer://payroll/database/field/password";
const idOf = ({ session }: Member): string => session.user.id;
const login = { type: "login", fields: { password: "s3cret" } };
const yes = (): Promise<boolean> => Promise.resolve(true);

/** A folder and a vault of Anna's, which Mallory manages too. The owner, Alice, uses neither. */
async function withMallory(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const [anna, mallory] = [await company.join("anna@example.com", "admin"), await company.join("mallory@example.com")];
  const { id: folder } = await anna.client().folders.create("payroll");
  await anna.client().secrets.set(notation, "s3cret");
  const { id: vault } = await anna.client().vaults.create("Team", { type: "shared" });
  await anna.client().records.create(vault, login);
  const request = { userId: idOf(mallory), permission: "manage" } as const;
  await anna.client().folders.share(folder, request);
  await anna.client().vaults.share(vault, request);
  await mallory.client().folders.accept(folder);
  await mallory.client().vaults.accept(vault);
  return { ...company, anna, mallory, folder, vault };
}

async function removed({ alice, mallory }: Company & { mallory: Member }): Promise<void> {
  await alice.client().members.remove(idOf(mallory));
}

async function returned({ alice, mallory }: Company & { mallory: Member }): Promise<void> {
  const { token } = await alice.client().invites.create("mallory@example.com", "member");
  await mallory.client().invites.accept(token);
}

/** The service lists Mallory again, without a key. */
function listed({ server, mallory, folder, vault }: Awaited<ReturnType<typeof withMallory>>): void {
  const grant = { permission: "manage", encrypted_key: null } as const;
  server.folders.get(folder)?.grants.push({ kind: "user", id: idOf(mallory), ...grant, encrypted_key_alg: null });
  server.vaults.get(vault)?.members.push({ user_id: idOf(mallory), ...grant });
}

/** The keys that were sent for a person: in grants and in rotations. */
function keysFor({ received }: HistoryServer, userId: string): unknown[] {
  return received
    .filter(({ method, path }) => method === "PUT" || path.endsWith("/rotate"))
    .flatMap(({ path, body }) => {
      const { encrypted_key: key, encrypted_keys: keys } = JSON.parse(body) as {
        encrypted_key?: unknown;
        encrypted_keys?: { users: { user_id: string; encrypted_key: unknown }[] };
      };
      if (path.endsWith(userId)) return [key];
      return keys?.users.filter(({ user_id }) => user_id === userId).map((one) => one.encrypted_key) ?? [];
    });
}

await t.test("no key is sealed to a person who returned, until a manager has set that person again", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server, folder, vault } = company;
  await removed(company);
  await returned(company);
  listed(company);
  server.received.length = 0;
  const me = anna.client();
  await me.folders.list();
  await me.vaults.list();
  t.same(keysFor(server, idOf(mallory)), [], "opening seals missing keys, and not this one");
  t.match(await me.vaults.members(vault), [
    { problem: null },
    { user_id: idOf(mallory), problem: "holder_unconfirmed" },
  ]);
  t.match(await me.folders.rotate(folder), { left_out: [{ id: idOf(mallory) }] });
  t.match(await me.vaults.rotate(vault), { left_out: [{ id: idOf(mallory) }] });
  t.same(keysFor(server, idOf(mallory)), [null, null], "and a rotation leaves the person out");
  await t.rejects(mallory.client().records.list(vault), { code: "key_pending" });

  const entries = (res: Resource): number | undefined => server.histories.get(res)?.entries.length;
  const before = [entries(`folder:${folder}`), entries(`vault:${vault}`)];
  await me.folders.share(folder, { userId: idOf(mallory), permission: "manage" });
  await me.vaults.share(vault, { userId: idOf(mallory), permission: "manage" });
  t.same(
    [entries(`folder:${folder}`), entries(`vault:${vault}`)],
    before.map((count = 0) => count + 1),
    "an entry each",
  );
  await mallory.client().members.confirmed();
  t.equal(await mallory.client().secrets.read(notation.replace("payroll", folder)), "s3cret");
  t.match(await mallory.client().records.list(vault), [{ fields: login.fields }]);
  t.match(await me.vaults.rotate(vault), { left_out: [] }, "from then on the person is one of them");
});

await t.test(
  "a device that learns of a removal while it seals does not seal on the removed person's word",
  async (t) => {
    const company = await withMallory(t);
    const { anna, mallory, join, server, folder, vault, organizationId } = company;
    const eve = await join("eve@example.com");
    await removed(company);
    // The service hides the removal from Anna, and shows that Mallory gave the folder and the vault to Eve.
    const shown = server.histories.get(`org:${organizationId}`)?.entries.slice(0, -1) ?? [];
    let hides = true;
    server.lie = ({ path, method }, { body }) => {
      if (!hides || method !== "GET" || !path.startsWith("/api/org/history")) return body;
      const after = Number(new URL(path, "http://x").searchParams.get("after") ?? -1);
      return { data: shown.slice(after + 1), history_seq: shown.length - 1 };
    };
    const me = anna.client();
    for (const res of [`folder:${folder}`, `vault:${vault}`] as const)
      await signPastClients(server, mallory, res, {
        set: [{ who: `user:${idOf(eve)}`, key: eve.session.public_key, perm: "read" }],
      });
    t.match(await me.folders.list(), [{ problem: null }], "Anna cannot know of it yet");
    t.match(await me.vaults.list(), [{ problem: null }]);
    const grant = { permission: "read", encrypted_key: null } as const;
    server.folders.get(folder)?.grants.push({ kind: "user", id: idOf(eve), ...grant, encrypted_key_alg: null });
    server.vaults.get(vault)?.members.push({ user_id: idOf(eve), ...grant });
    server.received.length = 0;
    hides = false;
    await me.vaults.list();
    await me.folders.list();
    t.ok(
      server.received.some(({ path }) => path.startsWith("/api/org/history")),
      "the removal was shown",
    );
    t.same(keysFor(server, idOf(eve)), []);
    t.match(await me.folders.list(), [{ problem: "signer_removed" }]);
    t.match(await me.vaults.list(), [{ problem: "signer_removed" }]);
  },
);

await t.test("a manager who returned makes no token", async (t) => {
  const company = await withMallory(t);
  const { mallory, server, folder } = company;
  const grant = server.folders.get(folder)?.grants.find(({ id }) => id === idOf(mallory));
  if (grant === undefined) throw new Error("Mallory has no grant");
  await removed(company);
  await returned(company);
  server.folders.get(folder)?.grants.push(grant);
  await t.rejects(newJoinedMachine(mallory, server, [folder]), { code: "access_denied", message: /another manager/ });
});

await t.test("the cut of a removal is not signed for a history that a removed manager went on with", async (t) => {
  const company = await withMallory(t);
  const { alice, anna, mallory, join, server, folder, organizationId } = company;
  const bob = await join("bob@example.com");
  await anna.client().folders.share(folder, { userId: idOf(bob), permission: "manage" });
  const res: Resource = `folder:${folder}`;
  await removed(company);
  const honest = server.histories.get(res);
  await signPastClients(server, mallory, res, { name: "Mallory's" });
  await alice.client().members.remove(idOf(bob));
  const { former } = server.histories.get(`org:${organizationId}`)?.state ?? {};
  t.equal(former?.find(({ who }) => who === `user:${idOf(bob)}`)?.cut[await cutName(res)], undefined);
  if (honest !== undefined) server.histories.set(res, honest);
});

await t.test("a folder or vault is not adopted when a removal has named an entry of its history", async (t) => {
  const company = await withMallory(t);
  const { anna, server, folder, vault } = company;
  await removed(company);
  for (const res of [`folder:${folder}`, `vault:${vault}`] as const) server.histories.delete(res);
  // A new device of Anna's, to which the service shows no keyring either.
  server.keyrings.delete(idOf(anna));
  for (const { pins } of server.vaults.values()) pins.clear();
  const me = anna.client({ trust: memoryTrust() });
  await me.organizations.trust(company.organizationId, () => Promise.resolve(true));
  await t.rejects(me.folders.adopt(folder, yes, yes), { code: "conflict", message: /names an entry/ });
  await t.rejects(me.vaults.adopt(vault, yes), { code: "conflict", message: /names an entry/ });
});

await t.test("access that was ended is given again with an entry", async (t) => {
  const { anna, mallory, server, folder, vault } = await withMallory(t);
  const me = anna.client();
  await me.folders.unshare(folder, idOf(mallory));
  const before = server.histories.get(`folder:${folder}`)?.entries.length ?? 0;
  await me.folders.share(folder, { userId: idOf(mallory), permission: "manage" });
  t.equal(server.histories.get(`folder:${folder}`)?.entries.length, before + 1, "other devices learn of it");
  t.match(await me.folders.rotate(folder), { left_out: [], dropped: [] });
  t.match(await me.vaults.rotate(vault), { left_out: [], dropped: [] });
});

await t.test("a machine that only a removed manager has named gets no other folder's key", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server, folder, organizationId } = company;
  const { publicKey } = await strangeKey();
  const clientId = newId();
  const me = anna.client();
  const { id: other } = await me.folders.create("other");
  await me.folders.list();
  await removed(company);
  const shown = server.histories.get(`org:${organizationId}`)?.entries.slice(0, -1) ?? [];
  let hides = true;
  server.lie = ({ path, method }, { body }) => {
    if (method === "GET" && path.endsWith("/clients"))
      return { data: [{ client_id: clientId, name: "web", public_key: publicKey, folders: [{ id: folder }] }] };
    if (!hides || method !== "GET" || !path.startsWith("/api/org/history")) return body;
    const after = Number(new URL(path, "http://x").searchParams.get("after") ?? -1);
    return { data: shown.slice(after + 1), history_seq: shown.length - 1 };
  };
  await signPastClients(server, mallory, `folder:${folder}`, {
    set: [{ who: `client:${clientId}`, key: publicKey, perm: "read" }],
  });
  await me.folders.list();
  hides = false;
  server.received.length = 0;
  const request = { clientId, folderId: other, permission: "read" } as const;
  await t.rejects(me.machines.share(newId(), request), { code: "signer_removed" });
  t.same(keysFor(server, other), []);
});

/**
 * Alice removes Mallory, and the service leaves the folder and the vault out of the entries that
 * she signs the removal with.
 */
async function leftOut(company: Awaited<ReturnType<typeof withMallory>>): Promise<void> {
  const { server } = company;
  server.lie = ({ path }, { body }) => {
    if (path.endsWith("/heads")) return { data: {} };
    return path.endsWith("/api/org/folders") ? { data: [] } : body;
  };
  await removed(company);
  server.lie = (_, { body }) => body;
}

await t.test(
  "no key is sealed to a returned person whom the removal did not drop from a folder or vault",
  async (t) => {
    const company = await withMallory(t);
    const { anna, mallory, server, folder, vault, organizationId } = company;
    const me = anna.client();
    await me.folders.list();
    await me.vaults.list();
    await leftOut(company);
    const { former } = server.histories.get(`org:${organizationId}`)?.state ?? {};
    t.match(former, [{ who: `user:${idOf(mallory)}`, cut: {} }]);
    await returned(company);
    listed(company);
    server.received.length = 0;
    await me.folders.list();
    await me.vaults.list();
    t.same(keysFor(server, idOf(mallory)), [], "opening seals missing keys, and not this one");
    t.match(await me.folders.rotate(folder), { left_out: [{ id: idOf(mallory) }] });
    t.match(await me.vaults.rotate(vault), { left_out: [{ id: idOf(mallory) }] });
    t.same(keysFor(server, idOf(mallory)), [null, null]);
    await me.folders.share(folder, { userId: idOf(mallory), permission: "manage" });
    await me.vaults.share(vault, { userId: idOf(mallory), permission: "manage" });
    await mallory.client().members.confirmed();
    t.equal(await mallory.client().secrets.read(notation.replace("payroll", folder)), "s3cret");
    t.match(await me.folders.rotate(folder), { left_out: [] }, "from then on the person is one of them");
    t.match(await me.vaults.rotate(vault), { left_out: [] });
  },
);

await t.test("nor do entries of that person count, until a manager has set the person again", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server, folder, vault } = company;
  const me = anna.client();
  await me.folders.list();
  await me.vaults.list();
  await leftOut(company);
  // Anna's device sees the removal and the return at once.
  await returned(company);
  const honest = new Map(server.histories);
  for (const res of [`folder:${folder}`, `vault:${vault}`] as const)
    await signPastClients(server, mallory, res, { name: "Mallory's" });
  t.match(await me.folders.list(), [{ problem: "signer_removed" }]);
  t.match(await me.vaults.list(), [{ problem: "signer_removed" }]);
  t.match(await anna.client().folders.list(), [{ problem: "signer_removed" }], "the device stores it");
  for (const res of [`folder:${folder}`, `vault:${vault}`] as const)
    server.histories.set(res, honest.get(res) as NonNullable<ReturnType<typeof honest.get>>);
  t.match(await me.folders.list(), [{ problem: null }]);
  const request = { userId: idOf(mallory), permission: "manage" } as const;
  await me.folders.share(folder, request);
  await me.vaults.share(vault, request);
  await mallory.client().members.confirmed();
  await mallory.client().folders.rename(folder, "renamed");
  await mallory.client().vaults.update(vault, { name: "Renamed" });
  t.match(await me.folders.list(), [{ name: "renamed", problem: null }]);
  t.match(await me.vaults.list(), [{ name: "Renamed", problem: null }]);
});

await t.test("a cut that an owner states later counts instead of the pin of a device", async (t) => {
  const company = await withMallory(t);
  const { alice, anna, mallory, server, folder, vault } = company;
  const me = anna.client();
  await me.folders.list();
  await me.vaults.list();
  await leftOut(company);
  await me.members.confirmed();
  await me.folders.list();
  await me.vaults.list();
  const who = `user:${idOf(mallory)}`;
  const { resources: before } = await anna.trust.load();
  const { pin, left } = before[`folder:${folder}`] ?? {};
  t.match(left, [{ who, key: mallory.session.public_key, until: pin }]);
  await alice.client().members.restateCut(idOf(mallory), { kind: "folder", id: folder }, pin);
  await me.members.confirmed();
  await me.folders.list();
  await me.vaults.list();
  const { resources } = await anna.trust.load();
  t.match(resources[`folder:${folder}`]?.left, [{ who, until: null }]);
  t.match(resources[`vault:${vault}`]?.left, [{ who, until: { seq: Number } }]);
  await returned(company);
  listed(company);
  server.received.length = 0;
  await me.folders.list();
  await me.vaults.list();
  t.same(keysFor(server, idOf(mallory)), []);
});

/** Mallory signs entries of the folder and the vault that no manager has allowed since. */
async function goesOn({ server, mallory, folder, vault }: Awaited<ReturnType<typeof withMallory>>): Promise<void> {
  for (const res of [`folder:${folder}`, `vault:${vault}`] as const)
    await signPastClients(server, mallory, res, { name: "Mallory's" });
}

await t.test("a person's other devices learn who left from the keyring and the vault's pin", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server } = company;
  const [me, trust] = [anna.client(), memoryTrust()];
  const phone = (): PersonClient => anna.client({ trust });
  for (const device of [me, phone()]) {
    await device.folders.list();
    await device.vaults.list();
  }
  await leftOut(company);
  await me.members.confirmed();
  await me.folders.list();
  await me.vaults.list();
  await returned(company);
  await goesOn(company);
  listed(company);
  server.received.length = 0;
  for (const device of [anna.client({ trust: memoryTrust() }), phone()]) {
    t.match(await device.folders.list(), [{ problem: "signer_removed" }]);
    t.match(await device.vaults.list(), [{ problem: "signer_removed" }]);
  }
  t.same(keysFor(server, idOf(mallory)), []);
});

await t.test("a new device knows from the other device's pins what a person signed after leaving", async (t) => {
  const company = await withMallory(t);
  const { anna } = company;
  await anna.client().folders.list();
  await anna.client().vaults.list();
  await leftOut(company);
  await returned(company);
  const phone = anna.client({ trust: memoryTrust() });
  t.match(await phone.folders.list(), [{ problem: null }], "nothing has been signed");
  t.match(await phone.vaults.list(), [{ problem: null }]);
  await goesOn(company);
  for (const device of [anna.client({ trust: memoryTrust() }), phone]) {
    t.match(await device.folders.list(), [{ problem: "signer_removed" }]);
    t.match(await device.vaults.list(), [{ problem: "signer_removed" }]);
  }
});

await t.test("a new device follows a person who returned and was set again", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, folder, vault } = company;
  await anna.client().folders.list();
  await anna.client().vaults.list();
  await leftOut(company);
  await returned(company);
  const phone = anna.client({ trust: memoryTrust() });
  await phone.folders.share(folder, { userId: idOf(mallory), permission: "manage" });
  await phone.vaults.share(vault, { userId: idOf(mallory), permission: "manage" });
  await mallory.client().members.confirmed();
  await mallory.client().folders.rename(folder, "renamed");
  await mallory.client().vaults.update(vault, { name: "Renamed" });
  for (const device of [anna.client({ trust: memoryTrust() }), phone, anna.client()]) {
    t.match(await device.folders.list(), [{ name: "renamed", problem: null }]);
    t.match(await device.vaults.list(), [{ name: "Renamed", problem: null }]);
  }
});

await t.test("a departure from before the other device's pin ends nothing", async (t) => {
  const company = await startCompany(t);
  const { alice, server } = company;
  const [anna, bob] = [await company.join("anna@example.com", "admin"), await company.join("bob@example.com")];
  const { id } = await anna.client().folders.create("payroll");
  server.lie = ({ path }, { body }) => (path.endsWith("/heads") ? { data: {} } : body);
  await alice.client().members.remove(idOf(bob));
  const { token } = await alice.client().invites.create("bob@example.com", "member");
  await bob.client().invites.accept(token);
  await anna.client().folders.share(id, { userId: idOf(bob), permission: "manage" });
  await bob.client().folders.accept(id);
  await bob.client().folders.rename(id, "renamed");
  t.match(await anna.client({ trust: memoryTrust() }).folders.list(), [{ name: "renamed", problem: null }]);
});

await t.test("after another device's word the signers are checked again", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server, organizationId, vault } = company;
  const [me, trust] = [anna.client(), memoryTrust()];
  const phone = (): PersonClient => anna.client({ trust });
  for (const device of [me, phone()]) await device.vaults.list();
  const before = server.histories.get(`org:${organizationId}`);
  await leftOut(company);
  const after = server.histories.get(`org:${organizationId}`);
  await me.members.confirmed();
  // The phone sees what Mallory signs before it sees the removal.
  server.histories.set(`org:${organizationId}`, before as NonNullable<typeof before>);
  await signPastClients(server, mallory, `vault:${vault}`, { name: "Mallory's" });
  t.match(await phone().vaults.list(), [{ name: "Mallory's", problem: null }]);
  server.histories.set(`org:${organizationId}`, after as NonNullable<typeof after>);
  await phone().members.confirmed();
  t.match(await phone().vaults.list(), [{ problem: null }]);
  t.match(await me.vaults.list(), [{ problem: "signer_removed" }]);
  t.match(await phone().vaults.list(), [{ problem: "signer_removed" }]);
});

await t.test("travel mode makes a device forget a vault, and the vault's pin keeps who left", async (t) => {
  const company = await withMallory(t);
  const { anna, vault } = company;
  await anna.client().vaults.list();
  await leftOut(company);
  await anna.client().members.confirmed();
  await anna.client().vaults.list();
  await anna.trust.change((before) => {
    const { [`vault:${vault}`]: hidden, ...resources } = before.resources;
    t.match(hidden?.left, [{ until: { seq: Number } }]);
    return { ...before, resources };
  });
  await returned(company);
  await goesOn(company);
  t.match(await anna.client().vaults.list(), [{ problem: "signer_removed" }]);
});

await t.test("what another process of the device has learned counts before a key is sealed", async (t) => {
  const company = await withMallory(t);
  const { anna, mallory, server, folder, vault, organizationId } = company;
  const me = anna.client();
  await me.folders.list();
  await me.vaults.list();
  const before = server.histories.get(`org:${organizationId}`);
  await removed(company);
  await anna.client().members.confirmed();
  server.histories.set(`org:${organizationId}`, before as NonNullable<typeof before>);
  listed(company);
  server.received.length = 0;
  await t.rejects(me.folders.rotate(folder), { code: "history_rolled_back" });
  await t.rejects(me.vaults.rotate(vault), { code: "history_rolled_back" });
  t.same(keysFor(server, idOf(mallory)), []);
});

for (const [name, trust] of Object.entries({
  "keyring trust": (me: PersonClient) => me.keyring.trust(yes),
  "folder trust": (me: PersonClient, folder: string) => me.folders.trust(folder, yes),
}))
  await t.test(`${name} does not forget up to where the entries of a person who returned count`, async (t) => {
    const company = await withMallory(t);
    const { anna, folder } = company;
    const me = anna.client();
    await me.folders.list();
    await me.vaults.list();
    await leftOut(company);
    await me.members.confirmed();
    await returned(company);
    await goesOn(company);
    await trust(me, folder).catch((error: unknown) => t.match(error, { code: "signer_removed" }));
    t.match(await me.folders.list(), [{ problem: "signer_removed" }]);
    t.match(await me.vaults.list(), [{ problem: "signer_removed" }]);
  });

await t.test("keyring trust takes no folder or vault by an older state of the organization", async (t) => {
  const company = await withMallory(t);
  const { anna, server, organizationId } = company;
  const device = anna.client({ trust: memoryTrust() });
  server.lie = ({ path }, { body }) => (path.endsWith("/api/org/folders") ? { data: [] } : body);
  await device.members.confirmed();
  server.lie = (_, { body }) => body;
  const org: Resource = `org:${organizationId}`;
  const before = server.histories.get(org);
  await leftOut(company);
  await device.members.confirmed();
  const after = server.histories.get(org);
  await goesOn(company);
  if (before !== undefined) server.histories.set(org, before);
  const asked: string[] = [];
  await device.keyring.trust((shown) => Promise.resolve(asked.push(...shown.map(({ res }) => res)) >= 0));
  t.same(asked, []);
  if (after !== undefined) server.histories.set(org, after);
  t.match(await device.folders.list(), [{ problem: "signer_removed" }]);
  t.match(await device.vaults.list(), [{ problem: "signer_removed" }]);
});
