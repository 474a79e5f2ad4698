import { box, contexts, decodeBase64, newId, newKey, seal, unboxBound } from "@coffer/crypto";
import { sign } from "@coffer/history";
import t from "tap";
import { memoryTrust, personClient } from "../../src/index.ts";
import { startCompany } from "../server/history-people.ts";
import { login, newReader, seals, showVaults, withVault, yes } from "../server/shared-vault.ts";

await t.test("a colleague reads a shared vault, and no words are compared", async (t) => {
  const { alice, join, id, record, server, organizationId } = await withVault(t);
  const bob = await join("bob@example.com");
  await alice.client().vaults.share(id, { userId: bob.session.user.id, permission: "read" });
  await t.rejects(bob.client().records.list(id), { code: "not_accepted" }, "before it is accepted");
  t.match(await bob.client().vaults.list(), [{ name: "Team", permission: "read", problem: "not_accepted" }]);
  const asked: unknown[] = [];
  const accept = (offer: unknown): Promise<boolean> => Promise.resolve(asked.push(offer) > 0);
  t.same(await bob.client({ accept }).records.list(id), [record]);
  t.same(asked, [
    {
      kind: "vault",
      id,
      name: "Team",
      from: "alice@example.com",
      organization: { id: organizationId, name: "Example" },
      same_name: [],
    },
  ]);
  t.same(await bob.client({ trust: memoryTrust() }).records.list(id), [record], "another device knows it too");
  t.notOk(server.received.some(({ path }) => path.includes("/public_key")));
});

await t.test("what a keyring holds says nothing of vaults", async (t) => {
  const { alice, server, id } = await withVault(t);
  await alice.client().folders.create("production");
  const { version, sealed } = server.keyrings.get(alice.session.user.id) ?? { version: 0, sealed: "" };
  const userKey = decodeBase64(alice.session.user_key);
  const opened = await unboxBound(userKey, sealed, contexts.keyring(alice.session.user.id, version));
  const text = Buffer.from(opened).toString();
  t.match(text, "folder:");
  t.notMatch(text, id);
});

await t.test("a service that hands out a key of its own is not believed", async (t) => {
  const { alice, server, id } = await withVault(t);
  const foreign = await seal(alice.session.public_key, newKey(), contexts.vaultKey(id));
  server.lie = showVaults((one) => ({ ...one, encrypted_key: foreign, encrypted_key_alg: "jwe" }));
  server.received.length = 0;
  const me = alice.client();
  t.match(await me.vaults.list(), [{ name: "Team", problem: "key_mismatch" }], "a list is no reason to fail");
  const mismatch = { code: "key_mismatch" };
  await t.rejects(me.records.create(id, login), mismatch);
  await t.rejects(me.records.update(id, newId(), login), mismatch);
  await t.rejects(me.records.list(id), mismatch);
  await t.rejects(me.records.import(id, [login]), mismatch);
  await t.rejects(me.records.stableIds(id, ["a"]), mismatch);
  await t.rejects(me.vaults.rotate(id), mismatch);
  await t.rejects(me.vaults.share(id, { userId: alice.session.user.id, permission: "manage" }), mismatch);
  t.same(seals(server), []);
});

await t.test("a personal vault has the key that its owner sealed as that, and no other", async (t) => {
  const { alice, server } = await startCompany(t);
  const me = alice.client();
  const { id } = await me.vaults.create("Mine");
  const own = server.vaults.get(id)?.members[0]?.encrypted_key ?? "";
  const key = await unboxBound(decodeBase64(alice.session.user_key), own, contexts.ownVaultKey(id));
  await me.records.create(id, login);
  const userKey = decodeBase64(alice.session.user_key);
  for (const sealed of [
    await seal(alice.session.public_key, newKey(), contexts.vaultKey(id)),
    await seal(alice.session.public_key, key, contexts.ownVaultKey(id)),
    await box(userKey, key, contexts.vaultKey(id)),
  ]) {
    server.lie = showVaults((one) => ({ ...one, encrypted_key: sealed }));
    server.received.length = 0;
    await t.rejects(alice.client().records.create(id, login), { code: "not_decrypted", message: /not sealed by you/ });
    t.same(seals(server), []);
  }
  await t.rejects(alice.client().vaults.share(id, { userId: newId(), permission: "read" }), {
    code: "invalid_request",
  });
  server.lie = showVaults((one) => one);
  await t.rejects(alice.client().vaults.share(id, { userId: newId(), permission: "read" }), {
    code: "invalid_request",
    message: /personal/,
  });
  await t.rejects(alice.client().vaults.rotate(id), { code: "invalid_request" });
  await t.rejects(alice.client().vaults.adopt(id, yes), { code: "invalid_request" });
});

await t.test("a shared vault shown as personal is not used, nor a personal one shown as shared", async (t) => {
  const { alice, server, id } = await withVault(t);
  const { id: own } = await alice.client().vaults.create("Mine");
  server.lie = showVaults((one) => ({ ...one, type: one.type === "shared" ? "personal" : "shared" }));
  server.received.length = 0;
  await t.rejects(alice.client().records.create(id, login), { code: "not_decrypted" });
  await t.rejects(alice.client().records.create(own, login), { code: "no_history" });
  t.same(seals(server), []);
});

await t.test("an older key that the service shows again is not used, also not for reading", async (t) => {
  const { alice, server, id, record } = await withVault(t);
  const before = structuredClone(server.vaults.get(id)?.members[0]);
  await alice.client().vaults.rotate(id);
  const { encrypted_key = null } = before ?? {};
  server.lie = showVaults((one) => ({ ...one, encrypted_key, key_version: 1 }));
  await t.rejects(alice.client().records.get(id, record.id), { code: "key_rolled_back" });
  await t.rejects(alice.client().records.create(id, login), { code: "key_rolled_back" });
  server.lie = showVaults((one) => ({ ...one, encrypted_key }));
  await t.rejects(alice.client().records.get(id, record.id), { code: "key_mismatch" });
});

await t.test(
  "a history that is shorter than before, or another one, is refused until it is trusted again",
  async (t) => {
    const { alice, server, id, res, record } = await withVault(t);
    const first = server.histories.get(res);
    if (first === undefined) throw new Error("no history");
    await alice.client().vaults.update(id, { name: "Renamed" });
    server.histories.set(res, first);
    await t.rejects(alice.client().records.list(id), { code: "history_rolled_back" });
    const another = await sign(first.state, res, `user:${alice.session.user.id}`, alice.privateKey, { name: "Forked" });
    server.histories.set(res, { entries: [...first.entries, another.text], state: another.state });
    await t.rejects(alice.client().vaults.update(id, { name: "Again" }), { code: "history_forked" });
    await t.rejects(
      alice.client().vaults.trust(id, () => Promise.resolve(false)),
      { code: "access_denied" },
    );
    const asked: string[] = [];
    await alice.client().vaults.trust(id, ({ name }) => Promise.resolve(asked.push(name) > 0));
    t.same(asked, ["alice@example.com"]);
    t.same(await alice.client().records.list(id), [record]);
    t.equal((await alice.client().vaults.get(id)).name, "Forked");
    t.same(await alice.client({ trust: memoryTrust() }).records.list(id), [record], "other devices know it");
  },
);

await t.test("a key is sealed only to people that the histories name", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const stranger = newId();
  await t.rejects(alice.client().vaults.share(id, { userId: stranger, permission: "read" }), {
    code: "holder_unconfirmed",
  });
  server.vaults.get(id)?.members.push({ user_id: stranger, permission: "read", encrypted_key: null });
  t.match(await alice.client().vaults.members(id), [{ problem: null }, { problem: "holder_unconfirmed" }]);
  const rotated = await alice.client().vaults.rotate(id);
  t.same(
    rotated.left_out.map((holder) => holder.id),
    [stranger],
  );
  t.equal(server.vaults.get(id)?.members.find(({ user_id }) => user_id === stranger)?.encrypted_key, null);
});

await t.test("a member without a key reads who can seal it, and has it once a manager opens the vault", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com", "read");
  const held = server.vaults.get(id)?.members.find(({ user_id }) => user_id === bob.session.user.id);
  Object.assign(held ?? {}, { encrypted_key: null });
  await t.rejects(bob.client().records.list(id), { code: "key_pending", message: /alice@example\.com/ });
  t.match(await alice.client().vaults.members(id), [{ problem: null }, { problem: null, has_key: true }]);
  t.same(await bob.client().records.list(id), [record]);
});

await t.test("a vault without a history is used once a manager has adopted it", async (t) => {
  const { alice, join, server, id, res, record } = await withVault(t);
  const bob = await join("bob@example.com");
  server.vaults.get(id)?.members.push({ user_id: bob.session.user.id, permission: "read", encrypted_key: null });
  const stranger = newId();
  server.vaults.get(id)?.members.push({ user_id: stranger, permission: "read", encrypted_key: null });
  server.histories.delete(res);
  server.received.length = 0;
  await t.rejects(alice.client().vaults.adopt(id, yes), { code: "conflict" }, "to her the history is only hidden");
  await t.rejects(
    alice.client({ trust: memoryTrust() }).vaults.adopt(id, yes),
    { code: "conflict" },
    "nor on a new device",
  );
  t.same(seals(server), []);
  server.vaults.get(id)?.pins.clear();
  // As of another program that made it: this device has seen nothing of it.
  const trust = memoryTrust();
  const me = alice.client({ trust });
  await t.rejects(me.records.list(id), { code: "no_history" });
  await t.rejects(me.vaults.rotate(id), { code: "no_history" });
  t.match(await me.vaults.adopt(id, yes), { name: "Team", left_out: [{ id: stranger }] });
  t.same(await me.records.list(id), [record]);
  await bob.client().vaults.accept(id);
  t.same(await bob.client().records.list(id), [record]);
});

await t.test("names and permissions are those of the history", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const bob = await newReader(company, id, "bob@example.com", "read");
  server.lie = showVaults((one) => ({ ...one, name: "Trap", permission: "manage" }));
  t.match(await bob.client().vaults.list(), [{ name: "Team", permission: "read" }]);
  server.lie = (_request, { body }) => body;
  await alice.client().vaults.update(id, { name: "Renamed", safeForTravel: true });
  t.match(await bob.client().vaults.find("renamed"), { id, safe_for_travel: true });
  await alice.client().vaults.update(id, { name: "Renamed", safeForTravel: false });
  const { id: other } = await alice.client().vaults.create("Renamed", { type: "shared" });
  t.equal((await bob.client().vaults.find("Renamed")).id, id, "what was not given is not seen");
  await alice.client().vaults.share(other, { userId: bob.session.user.id, permission: "read" });
  t.equal((await bob.client().vaults.find("Renamed")).id, id, "the other one was not accepted");
  await bob.client().vaults.accept(other);
  await t.rejects(bob.client().vaults.find("Renamed"), { code: "name_ambiguous" });
  await t.rejects(bob.client().vaults.find("Nothing"), { code: "not_found" });
});

await t.test("a vault that was made is found again when its answer was lost", async (t) => {
  const { alice, server } = await startCompany(t);
  const honest = server.answer.bind(server);
  let lost = 0;
  server.answer = async (caller, request, context) => {
    const answer = await honest(caller, request, context);
    if (request.method !== "POST" || request.path !== "/api/vaults" || lost > 0) return answer;
    lost += 1;
    return { status: 503, body: { error: "unavailable", message: "away" } };
  };
  const me = personClient(alice.session, server.url, { trust: alice.trust });
  const { id } = await me.vaults.create("Team", { type: "shared" });
  t.match(await me.records.create(id, login), login);
  t.equal(lost, 1);
  t.equal(server.vaults.size, 1);
});
