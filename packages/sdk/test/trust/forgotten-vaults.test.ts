import { contexts, decodeText, keyCheck, newKey, openSealed, seal, unboxBound } from "@coffer/crypto";
import t from "tap";
import { CofferError } from "../../src/index.ts";
import type { VaultView } from "../../src/vaults/views.ts";
import { type Company, signPastClients, startCompany } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";
import { Refusal } from "../server/refusal.ts";

// The service says that a person travels. What the devices of the person know of a vault that they
// have forgotten counts when it is shown again.

type Member = Awaited<ReturnType<Company["join"]>>;
type Scope = Parameters<typeof startCompany>[0];

const write = { type: "login", fields: { name: "new", password: "for present members" } };

/** `done`, or the code of the error; anything but an error of the client is a bug. */
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof CofferError ? error.code : String(error)),
  );

/** A vault of Alice with Bob and Eve, whose key Eve knows. */
async function startVault(t: Scope) {
  const company = await startCompany(t);
  const { alice, server, join } = company;
  const { id } = await alice.client().vaults.create("Team", { type: "shared" });
  await alice.client().records.create(id, { type: "login", fields: { name: "Example", password: "s3cret" } });
  async function reader(email: string): Promise<Member> {
    const member = await join(email);
    await alice.client().vaults.share(id, { userId: member.session.user.id, permission: "write" });
    await member.client().vaults.accept(id);
    return member;
  }
  const [bob, eve] = [await reader("bob@example.com"), await reader("eve@example.com")];
  for (const { client } of [alice, bob]) await client().records.list(id);
  const sealed = server.vaults.get(id)?.members.find(({ user_id }) => user_id === eve.session.user.id)?.encrypted_key;
  const oldKey = await openSealed(eve.privateKey, sealed ?? "", contexts.vaultKey(id));
  return { ...company, id, res: `vault:${id}` as const, bob, eve, oldKey };
}

/** Returns what shows a vault and its history as they are now. */
function snapshot(server: HistoryServer, id: string): () => void {
  const res = `vault:${id}` as const;
  const [vault, history] = structuredClone([server.vaults.get(id), server.histories.get(res)] as const);
  return () => {
    if (vault !== undefined) server.vaults.set(id, vault);
    if (history !== undefined) server.histories.set(res, history);
  };
}

/** Holds the first answer to a request of this path until `release` is called. */
function holdAnswer(server: HistoryServer, part: string): { asked: Promise<unknown>; release: () => void } {
  const [asked, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let isFirst = true;
  server.lie = async ({ method, path }, { body }) => {
    if (method !== "GET" || !path.includes(part) || !isFirst) return body;
    isFirst = false;
    asked.resolve(undefined);
    await released.promise;
    return body;
  };
  return { asked: asked.promise, release: () => released.resolve(undefined) };
}

/** A write after the removed Eve's time is refused, or Eve does not open it. */
async function refusesOldKey(
  t: Scope & { not: (a: unknown, b: unknown) => unknown; notMatch: (a: string, b: RegExp) => unknown },
  { server, id, oldKey }: { server: HistoryServer; id: string; oldKey: Uint8Array },
  client: ReturnType<Member["client"]>,
): Promise<void> {
  const from = server.received.length;
  t.not(await outcomeOf(client.records.create(id, write)), "done");
  for (const { method, path, body } of server.received.slice(from)) {
    if (method !== "POST" || !path.endsWith("/records")) continue;
    const sent = JSON.parse(body) as { id: string; encrypted_data: string };
    const opened = await unboxBound(oldKey, sent.encrypted_data, contexts.record(id, sent.id)).catch(() => undefined);
    t.notMatch(opened === undefined ? "" : decodeText(opened), /for present members/);
  }
}

for (const isFirst of [true, false])
  await t.test(
    `a process forgets a vault ${isFirst ? "before" : "after"} another one: the newer pin stays`,
    async (t) => {
      const company = await startVault(t);
      const { alice, server, id, eve } = company;
      const slow = alice.client();
      await slow.vaults.list();
      const restore = snapshot(server, id);
      await alice.client().vaults.unshare(id, eve.session.user.id);
      server.vaults.delete(id);
      if (!isFirst) await alice.client().travel.forgetHidden();
      await slow.travel.forgetHidden();
      restore();
      await refusesOldKey(t, company, alice.client());
    },
  );

await t.test("a vault that another process changes while it is being forgotten is forgotten as changed", async (t) => {
  const company = await startVault(t);
  const { alice, server, id, eve } = company;
  const restore = snapshot(server, id);
  const vault = server.vaults.get(id);
  if (vault === undefined) throw new Error("the vault is there");
  const change = alice.trust.change.bind(alice.trust);
  let changes = 0;
  alice.trust.change = async (apply) => {
    changes += 1;
    // After what is kept was read, and before it is stored.
    if (changes === 1) {
      server.vaults.set(id, vault);
      await alice.client().vaults.unshare(id, eve.session.user.id);
      server.vaults.delete(id);
    }
    return change(apply);
  };
  server.vaults.delete(id);
  await alice.client().travel.forgetHidden();
  restore();
  await refusesOldKey(t, company, alice.client());
});

await t.test("a process that recalls a vault takes the pin that another process has kept since", async (t) => {
  const company = await startVault(t);
  const { alice, server, id, eve } = company;
  const show = snapshot(server, id);
  server.vaults.delete(id);
  await alice.client().travel.forgetHidden();
  const slow = alice.client();
  await slow.vaults.list();
  show();
  await alice.client().records.list(id);
  const restore = snapshot(server, id);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  server.vaults.delete(id);
  await alice.client().travel.forgetHidden();
  restore();
  await refusesOldKey(t, company, slow);
});

/** Bob's device forgets the vault, and its pin with the removal stays on it. */
async function forget({ server, id, bob }: Awaited<ReturnType<typeof startVault>>): Promise<void> {
  server.loses = ({ method, path }) => method === "PUT" && path.endsWith("/pin");
  await bob.client().records.list(id);
  server.loses = () => false;
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
}

await t.test(
  "a long-running process does not put a forgotten vault back from a pin that the service shows",
  async (t) => {
    const company = await startVault(t);
    const { alice, bob, join, server, id, eve } = company;
    const daemon = bob.client();
    await daemon.vaults.list();
    // Another process publishes a later pin.
    const friend = await join("friend@example.com");
    await alice.client().vaults.share(id, { userId: friend.session.user.id, permission: "read" });
    await bob.client().records.list(id);
    const restore = snapshot(server, id);
    await alice.client().vaults.unshare(id, eve.session.user.id);
    await forget(company);
    restore();
    t.comment(await outcomeOf(daemon.vaults.list()));
    for (const client of [daemon, bob.client()]) await refusesOldKey(t, company, client);
  },
);

await t.test("a change of one's own is stored on what is kept of a vault that was forgotten meanwhile", async (t) => {
  const company = await startVault(t);
  const { alice, bob, server, id, eve } = company;
  await alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "manage" });
  await bob.client().records.list(id);
  const restore = snapshot(server, id);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  const showRemoval = snapshot(server, id);
  restore();
  server.lie = async ({ method }, { body }) => {
    if (method !== "PATCH") return body;
    server.lie = (_, { body: unchanged }) => unchanged;
    const showOwn = snapshot(server, id);
    showRemoval();
    await forget(company);
    showOwn();
    return body;
  };
  t.equal(await outcomeOf(bob.client().vaults.update(id, { name: "Crew" })), "history_forked");
  await refusesOldKey(t, company, bob.client());
});

await t.test("a first look at a vault does not replace what another process has kept of it since", async (t) => {
  const company = await startVault(t);
  const { alice, join, server, id, eve } = company;
  const carol = await join("carol@example.com");
  await alice.client().vaults.share(id, { userId: carol.session.user.id, permission: "write" });
  const restore = snapshot(server, id);
  const { asked, release } = holdAnswer(server, `${id}/history`);
  const slow = carol.client({ accept: () => Promise.resolve(true) });
  const looking = outcomeOf(slow.vaults.list());
  await asked;
  await carol.client().vaults.accept(id);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  await forget({ ...company, bob: carol });
  restore();
  release();
  t.comment(await looking);
  server.lie = (_, { body }) => body;
  await refusesOldKey(t, company, slow);
});

const uses: readonly [string, (client: ReturnType<Member["client"]>, id: string) => Promise<unknown>][] = [
  ["accepting", (client, id) => client.vaults.accept(id)],
  ["looking at the offer of", (client, id) => client.vaults.offer(id)],
  ["listing the members of", (client, id) => client.vaults.members(id)],
  ["renaming", (client, id) => client.vaults.update(id, { name: "x" })],
  ["rotating", (client, id) => client.vaults.rotate(id)],
];
for (const [what, use] of uses)
  await t.test(`${what} a vault that is shown again does not discard its pin`, async (t) => {
    const company = await startVault(t);
    const { alice, bob, server, id, eve } = company;
    const restore = snapshot(server, id);
    await alice.client().vaults.unshare(id, eve.session.user.id);
    await bob.client().records.list(id);
    server.vaults.delete(id);
    await bob.client().travel.forgetHidden();
    restore();
    t.equal(await outcomeOf(bob.client().records.create(id, write)), "keyring_rolled_back");
    t.comment(await outcomeOf(use(bob.client(), id)));
    await refusesOldKey(t, company, bob.client());
  });

await t.test("a history that is read while the vault is forgotten does not replace its pin", async (t) => {
  const company = await startVault(t);
  const { alice, bob, server, id, res, eve } = company;
  const restore = snapshot(server, id);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  const { asked, release } = holdAnswer(server, `${id}/history`);
  const reading = outcomeOf(bob.client().vaults.members(id));
  await asked;
  // Another process of the device sees the removal, and forgets the vault.
  await bob.client().records.list(id);
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  t.notOk((await bob.trust.load()).resources[res]);
  restore();
  release();
  t.comment(await reading);
  server.lie = (_, { body }) => body;
  await refusesOldKey(t, company, bob.client());
});

await t.test("what is learned of a vault that another process has just forgotten is not stored", async (t) => {
  const { alice, server, id, res } = await startVault(t);
  const show = snapshot(server, id);
  // The last question who has no key was a day ago.
  await alice.trust.change((record) => {
    const before = record.resources[res];
    if (before === undefined) throw new Error("the vault is known");
    return { ...record, resources: { ...record.resources, [res]: { ...before, sealed_at: 0 } } };
  });
  const { asked, release } = holdAnswer(server, `${id}/members`);
  const reading = outcomeOf(alice.client().vaults.list());
  await asked;
  server.vaults.delete(id);
  await alice.client().travel.forgetHidden();
  release();
  t.comment(await reading);
  server.lie = (_, { body }) => body;
  t.strictSame((await alice.trust.load()).resources[res], undefined);
  show();
  t.equal(await outcomeOf(alice.client().vaults.list()), "done");
});

for (const command of ["vault trust", "keyring trust"] as const)
  await t.test(`whose access was ended is remembered by \`${command}\` of a vault that was forgotten`, async (t) => {
    const { alice, server, id, eve } = await startVault(t);
    const members = structuredClone(server.vaults.get(id)?.members ?? []);
    server.lie = ({ method, path }, { body }) =>
      method === "GET" && path.includes(`${id}/records`) ? new Refusal(503, "unavailable") : body;
    await t.rejects(alice.client().vaults.unshare(id, eve.session.user.id), { code: "unavailable" });
    server.lie = (_, { body }) => body;
    const vault = server.vaults.get(id);
    if (vault === undefined) throw new Error("the vault is there");
    // The service has not done it, and says that Alice travels.
    vault.members = members;
    server.vaults.delete(id);
    await alice.client().travel.forgetHidden();
    server.vaults.set(id, vault);
    const yes = (): Promise<boolean> => Promise.resolve(true);
    if (command === "vault trust") await alice.client().vaults.trust(id, yes);
    else await alice.client().keyring.trust(yes);
    t.equal(await outcomeOf(alice.client().vaults.rotate(id)), "holder_unconfirmed");
  });

await t.test("a hidden vault keeps what the device knows of former members", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().vaults.create("Team", { type: "shared" });
  const res = `vault:${id}` as const;
  const bob = await join("bob@example.com");
  const trent = await join("trent@example.com");
  const olga = await join("olga@example.com", "admin");
  for (const [who, permission] of [
    [bob, "write"],
    [trent, "manage"],
  ] as const) {
    await alice.client().vaults.share(id, { userId: who.session.user.id, permission });
    await who.client().vaults.accept(id);
  }
  await bob.client().vaults.list();
  // Olga removes Trent. She does not have the vault, and the service leaves it out of her entry.
  server.lie = ({ path }, { body }) => (path.endsWith("/heads") ? { data: {} } : body);
  await olga.client().members.remove(trent.session.user.id);
  // Bob's device learns of it. The service refuses the pin that says so.
  server.lie = ({ method, path }, { body }) =>
    method === "PUT" && path.endsWith("/pin") ? new Refusal(503, "unavailable") : body;
  const pins = structuredClone(server.vaults.get(id)?.pins);
  await bob.client().members.confirmed();
  await bob.client().vaults.list();
  const held = server.vaults.get(id);
  if (held === undefined || pins === undefined) throw new Error("no vault");
  held.pins = pins;
  t.match((await bob.trust.load()).resources[res]?.left, [{ who: `user:${trent.session.user.id}` }]);
  // Trent returns, and hands the service what he signed while he was away: a key that both know.
  server.lie = (_, { body }) => body;
  const { token } = await olga.client().invites.create("trent@example.com", "member");
  await trent.client().invites.accept(token);
  const key = newKey();
  await signPastClients(server, trent, res, { ver: 2, check: await keyCheck(key, res, 2) });
  const sealed = await seal(bob.session.public_key, key, contexts.vaultKey(id));
  const shows = (view: VaultView): VaultView =>
    view.id === id ? { ...view, key_version: 2, encrypted_key: sealed, encrypted_key_alg: "jwe" } : view;
  const attack = (): void => {
    server.lie = ({ method, path }, { body }) => {
      if (method === "PUT" && path.endsWith("/pin")) return new Refusal(503, "unavailable");
      if (method !== "GET" || !/^\/api\/vaults(\/[0-9a-f-]{36})?(\?|$)/.test(path)) return body;
      const list = body as { data?: VaultView[] };
      return list.data === undefined ? shows(body as VaultView) : { data: list.data.map(shows) };
    };
    held.key_version = 2;
    held.pins = structuredClone(pins); // this server stores what the lie refuses
  };
  attack();
  await t.rejects(bob.client().records.create(id, write), { code: "signer_removed" }, "before it is hidden");
  // Bob travels.
  server.lie = (_, { body }) => body;
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  server.vaults.set(id, held);
  attack();
  const outcome = await outcomeOf(bob.client().records.create(id, write));
  t.equal(outcome, "signer_removed");
  const sent = server.received.filter(({ method, path }) => method === "POST" && path.endsWith("/records")).at(-1);
  const body = JSON.parse(sent?.body ?? "{}") as { id: string; encrypted_data: string };
  const opened =
    sent === undefined ? "" : decodeText(await unboxBound(key, body.encrypted_data, contexts.record(id, body.id)));
  t.notMatch(opened, /for present members/, "the service, which knows the key, cannot open it");
});

await t.test("a vault that was renamed to the name of a forgotten one is not that one", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const [bob, eve] = [await join("bob@example.com"), await join("eve@example.com")];
  const make = async (by: Member, name: string): Promise<string> => {
    const { id } = await by.client().vaults.create(name, { type: "shared" });
    await by.client().vaults.share(id, { userId: bob.session.user.id, permission: "write" });
    await bob.client().vaults.accept(id);
    return id;
  };
  const team = await make(alice, "Team");
  const lunch = await make(eve, "Lunch");
  t.equal((await bob.client().vaults.find("Team")).id, team);
  await eve.client().vaults.update(lunch, { name: "Team" });
  server.vaults.delete(team);
  await t.rejects(bob.client().vaults.find("Team"), { code: "name_ambiguous" }, "hidden by the service");
  await bob.client().travel.forgetHidden();
  await t.rejects(bob.client().vaults.find("Team"), { code: "name_ambiguous" }, "forgotten");
  await bob.client().vaults.accept(lunch);
  t.equal((await bob.client().vaults.find("Team")).id, lunch, "until its new name is accepted");
});
