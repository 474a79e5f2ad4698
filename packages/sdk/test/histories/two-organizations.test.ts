import { newId, newKeyPair } from "@coffer/crypto";
import t from "tap";
import type { Offer } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { type Company, type Member, memberOf, signPastClients, startCompany } from "../server/history-people.ts";

// A person in two organizations: what the managers of one sign decides nothing in the other,
// whichever the service says that a request is about.

interface Both extends Company {
  bob: Member;
  eve: Member;
  /** The organization of the attacker, of which alice is a member too. */
  other: { id: string; name: string };
  /** The key that the other organization's history has for bob. */
  falseKey: string;
}

async function startBoth(t: Parameters<typeof startCompany>[0]): Promise<Both> {
  const company = await startCompany(t);
  const { server, alice, join } = company;
  const bob = await join("bob@example.com");
  const eve = await memberOf(server, "eve@example.com");
  const other = await eve.client().organizations.create("Example");
  await alice.client().invites.accept((await eve.client().invites.create("alice@example.com", "member")).token);
  const { publicKey } = await newKeyPair();
  const set = [{ who: `user:${bob.session.user.id}`, key: publicKey, perm: "read", email: "bob@example.com" } as const];
  const seq = await signPastClients(server, eve, `org:${other.id}`, { set });
  const view = { id: other.id, name: "Example", history_seq: seq };
  server.lie = ({ method, path }, { body }) => (method === "GET" && path === "/api/org" ? view : body);
  return { ...company, bob, eve, other: view, falseKey: publicKey };
}

await t.test("a folder and a vault belong to the organization that the caller has chosen", async (t) => {
  const { server, alice, bob, organizationId: organization, falseKey } = await startBoth(t);
  const me = alice.client({ organization });
  const folder = await me.folders.create("payroll");
  t.equal(server.histories.get(`folder:${folder.id}`)?.state.org, organization);
  const vault = await me.vaults.create("team", { type: "shared" });
  t.equal(server.histories.get(`vault:${vault.id}`)?.state.org, organization);
  const keys = (await me.members.confirmed()).map(({ public_key: key }) => key);
  t.ok(keys.includes(bob.session.public_key));
  t.notOk(keys.includes(falseKey));
});

await t.test("the colleagues of a folder are those of the organization that its history names", async (t) => {
  const { alice, bob, organizationId: organization, falseKey } = await startBoth(t);
  const { id } = await alice.client({ organization }).folders.create("payroll");
  const keys = (await alice.client().members.confirmed({ folder: id })).map(({ public_key: key }) => key);
  t.ok(keys.includes(bob.session.public_key));
  t.notOk(keys.includes(falseKey));
});

await t.test("without a choice it is the organization that the service said first", async (t) => {
  const { server, alice, organizationId: organization, other } = await startBoth(t);
  await t.rejects(alice.client().folders.create("payroll"), { code: "bad_answer", message: /--org/ });
  const chosen = await alice.client({ organization: other.id }).members.confirmed();
  t.ok(
    chosen.some(({ email }) => email === "eve@example.com"),
    "one that is named is meant",
  );
  server.lie = (_request, { body }) => body;
  const { id } = await alice.client().folders.create("payroll");
  t.equal(server.histories.get(`folder:${id}`)?.state.org, organization);

  const { user } = alice.session;
  await alice.client({ organization: other.id }).members.remove(user.id);
  t.equal((await alice.trust.load()).organization, organization, "who leaves another one");
  await alice.client().members.remove(user.id, { force: true });
  t.equal((await alice.trust.load()).organization, undefined, "who leaves it has none");
});

await t.test("a folder of another organization is not one of the chosen, and an offer says whose it is", async (t) => {
  const { server, alice, eve, organizationId: organization, other } = await startBoth(t);
  server.lie = (_request, { body }) => body;
  const { id } = await eve.client().folders.create("production");
  await eve.client().folders.share(id, { userId: alice.session.user.id, permission: "write" });
  let shown: unknown;
  server.lie = ({ path }, { body }) => (path === "/api/org/folders" ? (shown = body) : body);
  await alice.client({ organization: other.id }).folders.list();
  server.lie = ({ method, path }, { body }) => (method === "GET" && path === "/api/org/folders" ? shown : body);
  const asked: Offer[] = [];
  const accept = (offer: Offer): Promise<boolean> => Promise.resolve(asked.push(offer) > 0);
  const me = alice.client({ organization, accept });
  await t.rejects(me.secrets.set("coffer://production/database/field/password", "s3cret"), { code: "bad_answer" });
  t.match(await me.folders.list(), [{ id, problem: "bad_answer" }]);
  t.same(asked, []);
  await alice.client({ organization: other.id, accept }).folders.find("production");
  const said = { kind: "folder", id, name: "production", from: "eve@example.com" };
  t.same(asked, [{ ...said, organization: { id: other.id, name: "Example" }, same_name: [] }]);
});

await t.test("a machine's key comes from no folder of another organization", async (t) => {
  const { server, alice, eve, organizationId: organization } = await startBoth(t);
  server.lie = (_request, { body }) => body;
  const { id: eves } = await eve.client().folders.create("production");
  await eve.client().folders.share(eves, { userId: alice.session.user.id, permission: "write" });
  const { id } = await alice.client({ organization }).folders.create("payroll");
  const { publicKey } = await newKeyPair();
  const clientId = newId();
  const set = [{ who: `client:${clientId}`, key: publicKey, perm: "read" } as const];
  await signPastClients(server, eve, `folder:${eves}`, { set });
  await alice.client().folders.accept(eves);
  server.lie = ({ path }, { body }) =>
    path.endsWith("/clients")
      ? { data: [{ client_id: clientId, name: "web", public_key: publicKey, folders: [{ id: eves }] }] }
      : body;
  const request = { clientId, folderId: id, permission: "read" } as const;
  await t.rejects(alice.client({ organization }).machines.share(newId(), request), {
    code: "holder_unconfirmed",
    message: /no history names the machine/,
  });
});

await t.test("the service gives no organization the name of one that it hides", async (t) => {
  const { server, alice, eve, organizationId: organization } = await startBoth(t);
  server.lie = (_request, { body }) => body;
  const { id: others } = await eve.client().organizations.create("Elsewhere");
  const { token } = await eve.client({ organization: others }).invites.create("alice@example.com", "member");
  await alice.client().invites.accept(token);
  const shown = [{ id: others, name: "Example", role: "member", status: "active" }];
  server.lie = ({ path }, { body }) =>
    path === "/api/account" ? { user: alice.session.user, organizations: shown } : body;
  const named = await alice.client().organizations.nameable();
  t.match(
    named.find(({ id }) => id === others),
    { name: "Elsewhere" },
    "the attacker's organization keeps the name of its history",
  );
  t.ok(
    named.some(({ id, name }) => id === organization && name === "Example"),
    "and the hidden one keeps its own",
  );
  // A new device knows both from the keyring.
  const swapped = [
    { id: others, name: "Example", role: "member", status: "active" },
    { id: organization, name: "Elsewhere", role: "owner", status: "active" },
  ];
  server.lie = ({ path }, { body }) =>
    path === "/api/account" ? { user: alice.session.user, organizations: swapped } : body;
  const onNew = await alice.client({ trust: memoryTrust() }).organizations.nameable();
  t.same(new Map(onNew.map(({ id, name }) => [id, name])).get(organization), "Example", "also on a new device");
  t.same(new Map(onNew.map(({ id, name }) => [id, name])).get(others), "Elsewhere");
});

await t.test("an e-mail that a manager has signed for two members is shown with the id", async (t) => {
  const { server, join, organizationId } = await startCompany(t);
  const [bob, mallory] = [await join("bob@example.com", "admin"), await join("mallory@example.com")];
  const { id } = await mallory.client().folders.create("payroll");
  await mallory.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  const { session } = mallory;
  const who = `user:${session.user.id}` as const;
  const set = [{ who, key: session.public_key, perm: "read", email: "alice@example.com" } as const];
  await signPastClients(server, bob, `org:${organizationId}`, { set });
  const offers: string[] = [];
  const accept = ({ from }: Offer): Promise<boolean> => Promise.resolve(offers.push(from) > 0);
  await bob.client({ accept }).folders.find("payroll");
  t.same(offers, [`alice@example.com (${who}, one of several)`]);
});

await t.test("a removal from one organization ends nothing in the other", async (t) => {
  const { server, alice, join, organizationId: organization } = await startCompany(t);
  const bob = await join("bob@example.com");
  const eve = await memberOf(server, "eve@example.com");
  const other = (await eve.client().organizations.create("Elsewhere")).id;
  for (const { client, session } of [alice, bob])
    await client().invites.accept((await eve.client().invites.create(session.user.email, "member")).token);
  const [here, there] = [alice.client({ organization }), alice.client({ organization: other })];
  const [payroll, builds] = [await here.folders.create("payroll"), await there.folders.create("builds")];
  const request = { userId: bob.session.user.id, permission: "read" } as const;
  await here.folders.share(payroll.id, request);
  await there.folders.share(builds.id, request);
  await bob.client({ organization: other }).folders.accept(builds.id);

  const { rotate } = await here.members.remove(bob.session.user.id);
  t.same(rotate, [{ kind: "folder", id: payroll.id, name: "payroll" }]);
  await there.secrets.set("coffer://builds/database/field/password", "s3cret");
  t.match(await there.folders.rotate(builds.id), { key_version: 2 });
  const password = await bob.client({ organization: other }).secrets.read("coffer://builds/database/field/password");
  t.equal(password, "s3cret", "bob has the new key of the other organization's folder");
});
