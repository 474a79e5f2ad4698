import { box, contexts, decodeBase64, newId, newKey, unboxBound } from "@coffer/crypto";
import t from "tap";
import { hiddenPin, withHiddenPins } from "../../src/trust/hidden-pins.ts";
import { Refusal } from "../server/refusal.ts";
import { login, newDevice, newReader, showVaults, withVault, yes } from "../server/shared-vault.ts";

await t.test("a device without pins trusts nothing when a vault's pin is not there, or does not open", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com");
  server.lie = showVaults((one) => ({ ...one, sealed_pin: null }));
  await t.rejects(alice.client({ trust: newDevice() }).records.list(id), { code: "keyring_missing" });
  const sealed = await box(newKey(), new Uint8Array(3), contexts.vaultPin(id, 1));
  server.lie = showVaults((one) => ({ ...one, sealed_pin: { version: 1, sealed } }));
  for (const one of [alice, bob])
    await t.rejects(one.client({ trust: newDevice() }).records.list(id), { code: "keyring_missing" });
  server.lie = (_request, { body }) => body;
  server.vaults.get(id)?.pins.clear();
  const trust = newDevice();
  await alice.client({ trust }).vaults.trust(id, yes);
  t.same(await alice.client({ trust }).records.list(id), [record]);
  t.same(await alice.client({ trust: newDevice() }).records.list(id), [record]);
});

await t.test(
  "an older pin than a device has seen is refused, and so is a history that lacks another device's",
  async (t) => {
    const { alice, server, id, res, record } = await withVault(t);
    const first = structuredClone(server.vaults.get(id)?.pins.get(alice.session.user.id));
    const history = server.histories.get(res);
    if (first === undefined || history === undefined) throw new Error("nothing is pinned");
    const other = newDevice();
    t.same(await alice.client({ trust: other }).records.list(id), [record]);
    await alice.client().vaults.update(id, { name: "Renamed" });
    server.lie = showVaults((one) => ({ ...one, sealed_pin: first }));
    await t.rejects(alice.client().records.list(id), { code: "keyring_rolled_back" });
    server.lie = showVaults((one) => ({ ...one, sealed_pin: null }));
    await t.rejects(alice.client().records.list(id), { code: "keyring_rolled_back" });
    server.lie = (_request, { body }) => body;
    // The other device has not seen the rename, but what the first one pinned.
    server.histories.set(res, history);
    await t.rejects(alice.client({ trust: other }).records.list(id), { code: "history_rolled_back" });
    t.same(await alice.client({ trust: other }).keyring.trust(yes), [{ res, name: "Team" }], "it stays as it was seen");
    await t.rejects(alice.client({ trust: other }).records.list(id), { code: "history_rolled_back" });
    await alice.client({ trust: other }).vaults.trust(id, yes);
    t.same(await alice.client({ trust: other }).records.list(id), [record]);
  },
);

await t.test("two devices write their pins one after another, and neither loses what the other knows", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const other = newDevice();
  await alice.client({ trust: other }).vaults.list();
  await alice.client().vaults.update(id, { name: "One" });
  const troubles: string[] = [];
  const onKeyringTrouble = ({ message }: Error): void => void troubles.push(message);
  await alice.client({ trust: other, onKeyringTrouble }).vaults.update(id, { name: "Two" });
  await alice.client({ onKeyringTrouble }).vaults.list();
  t.same(troubles, []);
  const { version, sealed } = server.vaults.get(id)?.pins.get(alice.session.user.id) ?? { version: 0, sealed: "" };
  const opened = await unboxBound(decodeBase64(alice.session.user_key), sealed, contexts.vaultPin(id, version));
  t.match(JSON.parse(Buffer.from(opened).toString()), { pin: [2, /^[0-9a-f]{64}$/], accepted: true });
  t.equal(version, 3);
  await alice.client({ trust: other }).vaults.list();
  server.received.length = 0;
  await alice.client().vaults.list();
  await alice.client({ trust: other }).vaults.list();
  t.same(
    server.received.map(({ method, path }) => `${method} ${path.split("?")[0] ?? ""}`),
    ["GET /api/vaults", "GET /api/vaults"],
    "who is up to date asks for no history and writes no pin",
  );
});

await t.test("a device forgets a vault that travel mode hides, and knows it again when it is back", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const bob = await newReader(company, id, "bob@example.com");
  t.match(JSON.stringify(await bob.trust.load()), id);
  const hidden = server.vaults.get(id);
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  const kept = JSON.stringify(await bob.trust.load());
  t.notMatch(kept, id);
  t.notMatch(kept, "Team");
  t.notMatch(kept, "vault:");
  if (hidden !== undefined) server.vaults.set(id, hidden);
  t.match(await bob.client().records.list(id), [login], "and was accepted");
  t.match(JSON.stringify(await alice.trust.load()), id);
});

await t.test("one false acknowledgement of a pin does not lock the device out of the vault", async (t) => {
  const { alice, server, id, record } = await withVault(t);
  let lies = 0;
  const lying: typeof fetch = (input, init) => {
    if (init?.method !== "PUT" || typeof input !== "string" || !input.endsWith("/pin") || lies > 0)
      return fetch(input, init);
    lies += 1;
    return Promise.resolve(Response.json({ version: 2 }));
  };
  const client = alice.client({ fetch: lying });
  await client.vaults.update(id, { name: "Renamed" });
  t.equal(lies, 1);
  t.equal(server.vaults.get(id)?.pins.get(alice.session.user.id)?.version, 2);
  t.same(await client.records.list(id), [record]);
  t.same(await alice.client({ trust: newDevice() }).records.list(id), [record]);
});

await t.test("a vault that was hidden is not shown again as it was before a removal", async (t) => {
  const company = await withVault(t);
  const { alice, server, id, res, record } = company;
  const [bob, eve] = [await newReader(company, id, "bob@example.com"), await newReader(company, id, "eve@example.com")];
  await bob.client().records.list(id);
  const before = structuredClone([server.vaults.get(id), server.histories.get(res)] as const);
  await alice.client().vaults.unshare(id, eve.session.user.id);
  await bob.client().records.list(id);
  const present = [server.vaults.get(id), server.histories.get(res)] as const;
  const show = ([vault, history]: typeof present): void => {
    if (vault !== undefined) server.vaults.set(id, vault);
    if (history !== undefined) server.histories.set(res, history);
  };
  // The service says that Bob travels, and hides the vault.
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  const forgotten = structuredClone(await bob.trust.load());
  t.equal(forgotten.hidden?.length, 8, "whatever the number of hidden vaults");
  show(before);
  const write = () => bob.client().records.create(id, { type: "login", fields: { name: "new" } });
  await t.rejects(write(), { code: "keyring_rolled_back" });
  const pin = present[0]?.pins.get(bob.session.user.id);
  if (pin !== undefined) server.vaults.get(id)?.pins.set(bob.session.user.id, pin);
  await t.rejects(write(), { code: "history_rolled_back" });
  show(present);
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  t.equal((await bob.trust.load()).hidden?.length, 8, "the pin of before is replaced");
  show(present);
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
});

await t.test("a device knows whose access to a hidden vault has ended, and the vault's accepted name", async (t) => {
  const company = await withVault(t);
  const { alice, server, id } = company;
  const eve = await newReader(company, id, "eve@example.com");
  const members = structuredClone(server.vaults.get(id)?.members ?? []);
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && path.includes(`${id}/records`) ? new Refusal(503, "unavailable") : body;
  await t.rejects(alice.client().vaults.unshare(id, eve.session.user.id), { code: "unavailable" });
  server.lie = (_, { body }) => body;
  const vault = server.vaults.get(id);
  if (vault === undefined) throw new Error("no vault");
  // The service has not done it, and says that Alice travels.
  vault.members = members;
  const { id: eves } = await eve.client().vaults.create("Eve's", { type: "shared" });
  await eve.client().vaults.share(eves, { userId: alice.session.user.id, permission: "write" });
  await alice.client().vaults.accept(eves);
  const other = server.vaults.get(eves);
  if (other === undefined) throw new Error("no vault");
  for (const one of [id, eves]) server.vaults.delete(one);
  await alice.client().travel.forgetHidden();
  server.vaults.set(eves, other);
  await eve.client().vaults.update(eves, { name: "Team" });
  server.vaults.set(id, vault);
  await alice.client().vaults.list();
  await t.rejects(alice.client().vaults.rotate(id), { code: "holder_unconfirmed" });
  await t.rejects(alice.client().vaults.find("Team"), { code: "name_ambiguous" });
  server.vaults.delete(id);
  await t.rejects(alice.client().vaults.find("Team"), { code: "name_ambiguous" }, "also while the other is hidden");
});

await t.test("a vault that was hidden is not used when its pin of former members does not open", async (t) => {
  const company = await withVault(t);
  const { server, id, record } = company;
  const bob = await newReader(company, id, "bob@example.com");
  await bob.client().records.list(id);
  const vault = server.vaults.get(id);
  if (vault === undefined) throw new Error("no vault");
  server.vaults.delete(id);
  await bob.client().travel.forgetHidden();
  server.vaults.set(id, vault);
  const sealed = await box(newKey(), new Uint8Array(9), contexts.vaultPin(id, 9));
  server.lie = showVaults((view) => ({ ...view, sealed_pin: { version: 9, sealed } }));
  await t.rejects(bob.client().records.list(id), { code: "keyring_missing" });
  server.lie = (_, { body }) => body;
  t.match(await bob.client().records.list(id), [{ id: record.id }]);
});

await t.test("a device keeps nothing of a hidden vault that opens without the vault's id", async (t) => {
  const [userKey, id] = [newKey(), newId()];
  const pin = { pin: { seq: 7, hash: "ab".repeat(32) }, accepted: true, version: 12 };
  const none = await withHiddenPins(userKey, [], new Map());
  const one = await withHiddenPins(userKey, none, new Map([[id, pin]]));
  t.same([none.length, one.length], [8, 16]);
  t.equal(new Set([...none, ...one].map((each) => each.length)).size, 1);
  t.same(await hiddenPin(userKey, one, id), pin);
  t.equal(await hiddenPin(userKey, one, newId()), undefined);
  t.equal(await hiddenPin(newKey(), one, id), undefined);
  t.equal(await hiddenPin(userKey, none, id), undefined);
});
