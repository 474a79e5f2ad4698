import { newId } from "@coffer/crypto";
import t from "tap";
import { type Company, type Member, startCompany } from "../server/history-people.ts";
import { Refusal } from "../server/refusal.ts";

// The service, or a gateway before it, says that it has stored a signed change, and has not.

const login = { type: "login", fields: { password: "s3cret" } };
const notation = "coffer://production/database/field/password";

interface Scene extends Company {
  me: ReturnType<Member["client"]>;
  bob: Member;
  folder: string;
  vault: string;
  record: string;
}

async function startScene(t: Parameters<typeof startCompany>[0]): Promise<Scene> {
  const company = await startCompany(t);
  const bob = await company.join("bob@example.com");
  const me = company.alice.client();
  const { id: folder } = await me.folders.create("production");
  await me.secrets.set(notation, "s3cret");
  const { id: vault } = await me.vaults.create("Team", { type: "shared" });
  const { id: record } = await me.records.create(vault, login);
  return { ...company, me, bob, folder, vault, record };
}

const share = ({ bob }: Scene) => ({ userId: bob.session.user.id, permission: "read" }) as const;

const changes: { name: string; of: "folder" | "vault" | "org"; make: (scene: Scene) => Promise<unknown> }[] = [
  { name: "a folder's new name", of: "folder", make: ({ me, folder }) => me.folders.rename(folder, "production") },
  { name: "a folder's new member", of: "folder", make: (scene) => scene.me.folders.share(scene.folder, share(scene)) },
  { name: "a folder's rotation", of: "folder", make: ({ me, folder }) => me.folders.rotate(folder) },
  {
    name: "a token",
    of: "folder",
    make: ({ me, folder }) => {
      const folders = [{ folderId: folder, permission: "read" as const }];
      return me.tokens.create({ applicationId: newId(), name: "web", folders });
    },
  },
  { name: "a vault's new name", of: "vault", make: ({ me, vault }) => me.vaults.update(vault, { name: "Teams" }) },
  { name: "a vault's new member", of: "vault", make: (scene) => scene.me.vaults.share(scene.vault, share(scene)) },
  { name: "a vault's rotation", of: "vault", make: ({ me, vault }) => me.vaults.rotate(vault) },
  { name: "an invitation", of: "org", make: ({ me }) => me.invites.create("carol@example.com", "member") },
  {
    name: "a member's role",
    of: "org",
    make: ({ me, bob }) => me.members.update(bob.session.user.id, { role: "admin" }),
  },
];

/** The history that a change concerns. */
const resOf = ({ organizationId, folder, vault }: Scene, of: "folder" | "vault" | "org") =>
  `${of}:${{ folder, vault, org: organizationId }[of]}` as const;

/** Loses the first requests that carry an entry. */
function loseEntries({ server }: Scene, count: number): { lost: number } {
  const seen = { lost: 0 };
  server.loses = ({ method, body }) => {
    if (method === "GET" || !body.includes('"entry"') || seen.lost === count) return false;
    seen.lost += 1;
    return true;
  };
  return seen;
}

for (const { name, of, make } of changes)
  await t.test(`${name} reaches the service although one answer was false`, async (t) => {
    const scene = await startScene(t);
    const { alice, server, record, vault } = scene;
    const before = server.histories.get(resOf(scene, of))?.state.head.seq ?? -1;
    const seen = loseEntries(scene, 1);
    await make(scene);
    t.equal(seen.lost, 1);
    t.equal(server.histories.get(resOf(scene, of))?.state.head.seq, before + 1, "stored once");
    for (const client of [scene.me, alice.client()]) {
      t.equal(await client.secrets.read(notation), "s3cret");
      t.same((await client.records.get(vault, record)).fields, login.fields);
      await client.folders.rename(scene.folder, "production");
    }
  });

await t.test("a join reaches the organization although one answer was false", async (t) => {
  const { server, bob, alice } = await startScene(t);
  const { id: organization } = await bob.client().organizations.create("Elsewhere");
  const invite = async (): Promise<string> =>
    (await bob.client({ organization }).invites.create("alice@example.com", "member")).token;
  let lost = 0;
  server.loses = ({ path }) => path === "/api/org/invites/accept" && (lost += 1) === 1;
  await alice.client().invites.accept(await invite());
  t.equal(lost, 2);
  server.loses = () => false;
  const members = async () => (await alice.client({ organization }).members.confirmed()).length;
  t.equal(await members(), 2);

  await bob.client({ organization }).members.remove(alice.session.user.id);
  const token = await invite();
  server.loses = ({ path }) => path === "/api/org/invites/accept";
  await t.rejects(alice.client().invites.accept(token), { code: "bad_answer", message: /does not show it/ });
  server.loses = () => false;
  await alice.client().invites.accept(token);
  t.equal(await members(), 2, "what was never shown leaves no trace");

  await bob.client({ organization }).members.remove(alice.session.user.id);
  const again = await invite();
  server.received.length = 0;
  let hides = 0;
  server.lie = ({ method, path }, { body }) => {
    const isRead = method === "GET" && path.startsWith("/api/org/history?after=");
    if (!isRead || hides > 0 || !server.received.some((one) => one.path === "/api/org/invites/accept")) return body;
    hides += 1;
    return { data: [], history_seq: 0 };
  };
  await alice.client().invites.accept(again);
  t.equal(hides, 1);
  t.equal(await members(), 2, "a join that was stored and hidden once is not lost");
});

await t.test("an entry that the service stored and hid once is not sent twice", async (t) => {
  const { me, folder, server } = await startScene(t);
  let hides = true;
  server.lie = ({ method, path }, { body }) => {
    if (!hides || method !== "GET" || !path.includes(`/folders/${folder}/history?after=`)) return body;
    if (!server.received.some((one) => one.method === "PATCH")) return body;
    hides = false;
    return { data: [], history_seq: 0 };
  };
  const seq = server.histories.get(`folder:${folder}`)?.state.head.seq ?? -1;
  t.match(await me.folders.rename(folder, "other"), { name: "other" });
  t.notOk(hides);
  t.equal(server.histories.get(`folder:${folder}`)?.state.head.seq, seq + 1);
});

await t.test("a change whose entry cannot be read back is made, and locks no device out", async (t) => {
  const { me, alice, folder, server } = await startScene(t);
  const fails = { now: false };
  server.lie = ({ method, path }, { body }) => {
    if (method === "PATCH") fails.now = true;
    return fails.now && path.includes("/history") ? new Refusal(503, "unavailable") : body;
  };
  const device = alice.client({ attempts: 1 });
  t.match(await device.folders.rename(folder, "other"), { name: "other" });
  server.lie = (_request, { body }) => body;
  t.equal(await me.secrets.read("coffer://other/database/field/password"), "s3cret");
});

await t.test("a change that takes nothing away is refused when it is never shown, and leaves no trace", async (t) => {
  const scene = await startScene(t);
  const { me, folder, server } = scene;
  loseEntries(scene, Infinity);
  const shown = /production.*does not show its entry/;
  await t.rejects(me.folders.rename(folder, "other"), { code: "bad_answer", message: shown });
  const folders = [{ folderId: folder, permission: "read" as const }];
  await t.rejects(me.tokens.create({ applicationId: newId(), name: "web", folders }), { message: shown });
  await t.rejects(me.folders.share(folder, share(scene)), { message: shown });
  server.loses = () => false;
  t.equal(await me.secrets.read(notation), "s3cret");
  t.match(await me.folders.rename(folder, "other"), { name: "other" });
});

for (const { name, of, make } of changes.filter((change) => change.name.endsWith("rotation")))
  await t.test(`${name} that the service never shows ends the use of the earlier key`, async (t) => {
    const scene = await startScene(t);
    const { me, alice, folder, vault, server } = scene;
    loseEntries(scene, Infinity);
    await t.rejects(make(scene), { code: "bad_answer", message: new RegExp(`coffer ${of} trust`) });
    server.received.length = 0;
    const write = (client: typeof me): Promise<unknown> =>
      of === "folder" ? client.secrets.set(notation, "n3w") : client.records.create(vault, login);
    for (const client of [me, alice.client()]) await t.rejects(write(client), { code: "history_rolled_back" });
    const written = server.received.filter(({ method, path }) => method !== "GET" && /secrets|records/.test(path));
    t.same(written, [], "nothing was written");
    server.loses = () => false;
    const yes = (): Promise<boolean> => Promise.resolve(true);
    await (of === "folder" ? me.folders.trust(folder, yes) : me.vaults.trust(vault, yes));
    await write(me);
  });
