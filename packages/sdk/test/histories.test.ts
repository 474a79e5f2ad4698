import { setTimeout } from "node:timers/promises";
import {
  contexts,
  encodeBase64Url,
  encodeText,
  keyCheck,
  newId,
  newKey,
  newKeyPair,
  readAccessToken,
  readInviteToken,
  seal,
  signEs256,
} from "@coffer/crypto";
import { makeInvitation, sign } from "@coffer/history";
import t from "tap";
import { bootstrap, createClient, type MachineConfiguration } from "../src/index.ts";
import { emptyTrust, memoryTrust } from "../src/trust/trust-storage.ts";
import { memberOf, newJoinedMachine, signPastClients, startCompany, strangeKey } from "./history-people.ts";
import type { HistoryServer } from "./history-server.ts";

/** An entry with these claims, whatever they say. */
async function rawEntry(claims: object, privateKey: Uint8Array): Promise<string> {
  const header = '{"alg":"ES256","typ":"coffer-history+jwt"}';
  const signed = [header, JSON.stringify(claims)].map((part) => encodeBase64Url(encodeText(part))).join(".");
  return `${signed}.${encodeBase64Url(await signEs256(privateKey, encodeText(signed)))}`;
}

const notation = "coffer://production/database/field/password";

await t.test("a colleague who was invited reads a shared folder, and no words are compared", async (t) => {
  const { alice, join, organizationId } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(folder.id, { userId: bob.session.user.id, permission: "read" });

  await t.rejects(bob.client().secrets.read(notation), { code: "not_accepted" }, "nobody has said that it is expected");
  const asked: unknown[] = [];
  const accept = (offer: unknown): Promise<boolean> => Promise.resolve(asked.push(offer) > 0);
  t.equal(await bob.client({ accept }).secrets.read(notation), "s3cret");
  t.same(asked, [
    {
      kind: "folder",
      id: folder.id,
      name: "production",
      from: "alice@example.com",
      organization: { id: organizationId, name: "Example" },
      same_name: [],
    },
  ]);
  t.equal(await bob.client({ trust: memoryTrust() }).secrets.read(notation), "s3cret", "another device knows it too");
});

await t.test("a rotation seals to every holder, drops who was taken off, and goes on for the others", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [bob, carol] = [await join("bob@example.com"), await join("carol@example.com")];
  for (const { session } of [bob, carol])
    await alice.client().folders.share(folder.id, { userId: session.user.id, permission: "read" });
  await bob.client().folders.accept(folder.id);
  await alice.client().folders.unshare(folder.id, carol.session.user.id);
  const rotated = await alice.client().folders.rotate(folder.id);
  t.same(
    rotated.sealed_to.map(({ name }) => name),
    ["alice@example.com", "bob@example.com"],
  );
  t.same(
    rotated.dropped.map(({ name }) => name),
    ["carol@example.com"],
  );
  t.equal(await bob.client().secrets.read(notation), "s3cret");
  t.equal(server.histories.get(`folder:${folder.id}`)?.state.ver, 2);
});

await t.test("a machine joins with its token, and follows a rotation", async (t) => {
  const { alice, server } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const machine = await newJoinedMachine(alice, server, [folder.id]);
  t.equal(machine.wrap_key, undefined);
  t.equal(await createClient(machine).read(notation), "s3cret");
  await alice.client().folders.rotate(folder.id);
  t.equal(await createClient(machine).read(notation), "s3cret");
});

await t.test("a service that hands out a key of its own is not believed", async (t) => {
  const { alice, server } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  const foreign = await seal(alice.session.public_key, newKey(), contexts.sharedFolderKey(folder.id));
  server.lie = ({ path, method }, { body }) => {
    if (path !== "/api/org/folders" || method !== "GET") return body;
    const { data } = body as { data: object[] };
    return { data: data.map((one) => ({ ...one, encrypted_key: foreign, encrypted_key_alg: "jwe" })) };
  };
  await t.rejects(alice.client().secrets.set(notation, "s3cret"), { code: "key_mismatch" });
});

/** Lets the service show something else of the caller's folders. */
const showFolders =
  (change: (one: Record<string, unknown>) => object): HistoryServer["lie"] =>
  ({ path, method }, { body }) =>
    path === "/api/org/folders" && method === "GET"
      ? { data: (body as { data: Record<string, unknown>[] }).data.map(change) }
      : body;

await t.test("an older key that the service shows again is not used, also not for reading", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [before] = await alice.client().folders.list();
  await alice.client().folders.rotate(before?.id ?? "");
  const { encrypted_key, encrypted_key_alg, key_version } = before ?? {};
  server.lie = showFolders((one) => ({ ...one, encrypted_key, encrypted_key_alg, key_version }));
  await t.rejects(alice.client().secrets.read(notation), { code: "key_rolled_back" });
  server.lie = showFolders((one) => ({ ...one, encrypted_key, encrypted_key_alg }));
  await t.rejects(alice.client().secrets.read(notation), { code: "key_mismatch" });
});

await t.test(
  "a history that is shorter than before, or another one, is refused until it is trusted again",
  async (t) => {
    const { alice, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const res = `folder:${id}` as const;
    const first = server.histories.get(res);
    if (first === undefined) throw new Error("no history");
    await alice.client().folders.rename(id, "other");
    server.histories.set(res, first);
    const uri = notation.replace("production", "other");
    await t.rejects(alice.client().secrets.read(uri), { code: "history_rolled_back" });
    const another = await sign(first.state, res, `user:${alice.session.user.id}`, alice.privateKey, { name: "forked" });
    server.histories.set(res, { entries: [...first.entries, another.text], state: another.state });
    await t.rejects(alice.client().folders.rename(id, "again"), { code: "history_forked" });
    const asked: string[] = [];
    await t.rejects(
      alice.client().folders.trust(id, () => Promise.resolve(false)),
      { code: "access_denied" },
    );
    await alice.client().folders.trust(id, ({ name }) => Promise.resolve(asked.push(name) > 0));
    t.same(asked, ["alice@example.com"]);
    t.equal(await alice.client().secrets.read(notation.replace("production", "forked")), "s3cret");
  },
);

await t.test("an entry that no manager signed, and one that the service hides, are refused", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "write" });
  const res = `folder:${id}` as const;
  const held = server.histories.get(res);
  const { publicKey, hex } = await strangeKey();
  const forged = { set: [{ who: `user:${newId()}` as const, key: publicKey, perm: "manage" as const }] };
  // The signing client refuses to make it: made without its check.
  const claims = { ...forged, res, seq: 2, prev: held?.state.head.hash, by: `user:${bob.session.user.id}` };
  const text = await rawEntry(claims, bob.privateKey);
  server.lie = ({ path }, { body }) => {
    if (!path.includes(`${id}/history`)) return body;
    return { data: [...(body as { data: string[] }).data, text], history_seq: 2 };
  };
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "history_invalid" });
  server.lie = ({ path }, { body }) =>
    path.includes(`${id}/history`) ? { ...(body as object), history_seq: 7 } : body;
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "bad_answer" });
  t.match(hex, /^[0-9a-f]{64}$/);
});

await t.test("a machine joins also what the service has hidden from its bootstrap", async (t) => {
  type View = { history_seq: number | null };
  const lies: Record<string, HistoryServer["lie"]> = {
    "no folder": ({ path }, { body }) => (path === "/api/sm/v1/folders" ? { data: [] } : body),
    "no history": ({ path }, { body }) =>
      path === "/api/sm/v1/folders"
        ? { data: (body as { data: View[] }).data.map((view) => ({ ...view, history_seq: null })) }
        : body,
    "no entries": ({ path, method }, { body }) =>
      method === "GET" && path.startsWith("/api/sm/v1/folders/") ? { data: [], history_seq: null } : body,
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { alice, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    server.lie = lie;
    const machine = await newJoinedMachine(alice, server, [id]);
    t.match(machine, { wrap_key: String, token_hash: String }, `${what}: the token's secret is kept`);
    server.lie = (_, { body }) => body;
    t.equal(await createClient(machine).read(notation), "s3cret", what);
    const holders = server.histories.get(`folder:${id}`)?.state.holders.map(({ who }) => who);
    t.ok(holders?.includes(`client:${machine.client_id}`), "the history names it");
  }
});

await t.test("a machine joins later when its first answer was a history from before the invitation", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const stale = [...(server.histories.get(`folder:${id}`)?.entries ?? [])];
  const showStale: HistoryServer["lie"] = ({ method, path }, { body }) => {
    const history_seq = stale.length - 1;
    if (method === "GET" && path.startsWith(`/api/sm/v1/folders/${id}/history`))
      return { data: path.includes("after") ? [] : stale, history_seq };
    if (path !== "/api/sm/v1/folders") return body;
    return { data: (body as { data: object[] }).data.map((view) => ({ ...view, history_seq })) };
  };
  const [application] = await alice.client().applications.list();
  const newToken = async (): Promise<string> => {
    const folders = [{ folderId: id, permission: "read" as const }];
    return (await alice.client().tokens.create({ applicationId: application?.id ?? "", name: "web", folders })).token;
  };

  let pending: MachineConfiguration | undefined;
  const save = (configuration: MachineConfiguration): Promise<void> => {
    pending = structuredClone(configuration);
    return Promise.resolve();
  };
  const token = await newToken();
  server.lie = showStale;
  await t.rejects(bootstrap({ url: server.url, token, save }), { code: "join_invalid" });
  server.lie = (_, { body }) => body;
  t.equal(await createClient(await bootstrap({ url: server.url, pending, save })).read(notation), "s3cret");

  server.lie = ({ path }, { body }) => (path === "/api/sm/v1/folders" ? { data: [] } : body);
  const machine = await bootstrap({ url: server.url, token: await newToken(), save: () => Promise.resolve() });
  const trust = memoryTrust(machine.histories);
  server.lie = showStale;
  await t.rejects(createClient(machine, { trust }).read(notation), "a machine that runs");
  server.lie = (_, { body }) => body;
  t.equal(await createClient(machine, { trust }).read(notation), "s3cret");
});

await t.test("a machine is confirmed in no folder that was not shown", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id: builds } = await alice.client().folders.create("builds");
  const { id: payroll } = await alice.client().folders.create("payroll");
  const { publicKey } = await strangeKey();
  const clientId = newId();
  const folders = [
    { id: builds, permission: "read" },
    { id: payroll, permission: "write" },
  ];
  server.lie = ({ path }, { body }) =>
    path.endsWith("/clients") ? { data: [{ client_id: clientId, name: "web", public_key: publicKey, folders }] } : body;
  const asked: unknown[] = [];
  const refuse = ({ folders: shown }: { folders?: unknown }): Promise<boolean> =>
    Promise.resolve(asked.push(shown) === 0);
  await t.rejects(alice.client().machines.confirm(newId(), clientId, refuse), { code: "access_denied" });
  t.match(asked, [
    [
      { id: builds, name: "builds", permission: "read" },
      { id: payroll, name: "payroll", permission: "write" },
    ],
  ]);
  for (const id of [builds, payroll]) t.equal(server.histories.get(`folder:${id}`)?.state.head.seq, 0);
  const confirmed = await alice.client().machines.confirm(newId(), clientId, () => Promise.resolve(true));
  t.same(confirmed.map(({ name }) => name).sort(), ["builds", "payroll"]);
});

await t.test(
  "who made a machine's token and manages none of its folders any more gives it no other folder",
  async (t) => {
    const { alice, join, server } = await startCompany(t);
    const bob = await join("bob@example.com", "admin");
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "manage" });
    await bob.client().folders.accept(id);
    const [application] = await bob.client().applications.list();
    const folders = [{ folderId: id, permission: "read" as const }];
    const { token } = await bob.client().tokens.create({ applicationId: application?.id ?? "", name: "web", folders });
    // The machine keeps the token's secret while the service shows a folder without a history.
    server.lie = ({ path }, { body }) => {
      if (path !== "/api/sm/v1/folders") return body;
      const [view] = (body as { data: object[] }).data;
      return { data: [view, { ...view, id: newId(), name: "old", history_seq: null }] };
    };
    const machine = await bootstrap({ url: server.url, token, save: () => Promise.resolve() });
    t.match(machine, { wrap_key: String, token_hash: String });
    server.lie = (_, { body }) => body;
    await alice.client().folders.unshare(id, bob.session.user.id);
    await alice.client().folders.rotate(id);
    const trust = memoryTrust(machine.histories);
    t.equal(await createClient(machine, { trust }).read(notation), "s3cret");

    const { id: other } = await bob.client().folders.create("other");
    const res = `folder:${other}` as const;
    const { wrapKey, tokenHash: tag } = await readAccessToken(token);
    const present = server.histories.get(res)?.state ?? null;
    const invitation = await makeInvitation(present, res, { tag, wrapKey, kind: "client", perm: "read" });
    await signPastClients(server, bob, res, { invite: [invitation] });
    const grant = { encrypted_key: null, encrypted_key_alg: null, permission: "read" as const };
    server.folders.get(other)?.grants.push({ kind: "client", id: machine.client_id, ...grant });
    await createClient(machine, { trust }).folders();
    t.notOk((await trust.load()).resources[res]?.accepted);
    const holders = server.histories.get(res)?.state.holders.map(({ who }) => who);
    t.same(holders, [`user:${bob.session.user.id}`], "nor has it joined");
  },
);

await t.test("a manager who was removed signs nothing any more, whatever the service lets through", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "manage" });
  await bob.client().folders.accept(id);
  t.match(await alice.client().members.remove(bob.session.user.id), { signed: true, rotate: [{ name: "production" }] });
  const res = `folder:${id}` as const;
  const held = server.histories.get(res);
  if (held === undefined) throw new Error("no history");
  const { text, state } = await sign(held.state, res, `user:${bob.session.user.id}`, bob.privateKey, { name: "mine" });
  server.histories.set(res, { entries: [...held.entries, text], state });
  await t.rejects(alice.client().folders.rename(id, "other"), { code: "signer_removed" });
});

await t.test(
  "an entry of a removed manager that was verified before the removal was seen does not count after it",
  async (t) => {
    const { alice, join, server, organizationId } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const [bob, carol] = [await join("bob@example.com"), await join("carol@example.com")];
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "manage" });
    await alice.client().folders.share(id, { userId: carol.session.user.id, permission: "read" });
    await carol.client().folders.accept(id);
    const org = `org:${organizationId}` as const;
    const whole = server.histories.get(org);
    await alice.client().members.remove(bob.session.user.id);
    const removed = server.histories.get(org);
    const res = `folder:${id}` as const;
    const held = server.histories.get(res);
    if (whole === undefined || removed === undefined || held === undefined) throw new Error("no history");

    // The service hides the removal, and shows what the removed manager signs.
    server.histories.set(org, whole);
    const { text, state } = await sign(held.state, res, `user:${bob.session.user.id}`, bob.privateKey, {
      name: "mine",
    });
    server.histories.set(res, { entries: [...held.entries, text], state });
    t.equal(
      await carol.client().secrets.read(notation.replace("production", "mine")),
      "s3cret",
      "as if no time had passed",
    );

    server.histories.set(org, removed);
    const { id: other } = await alice.client().folders.create("other");
    await alice.client().folders.share(other, { userId: carol.session.user.id, permission: "read" });
    await carol.client().folders.accept(other);
    await t.rejects(carol.client().secrets.read(notation.replace("production", id)), { code: "signer_removed" });
  },
);

await t.test("a key is sealed to no person that the organization's history does not name", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  const stranger = newId();
  await t.rejects(alice.client().folders.share(id, { userId: stranger, permission: "read" }), {
    code: "holder_unconfirmed",
  });
  // A holder whom the service lists and nobody has signed.
  const grants = server.folders.get(id)?.grants;
  grants?.push({ kind: "user", id: stranger, permission: "read", encrypted_key: null, encrypted_key_alg: null });
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  const rotated = await alice.client().folders.rotate(id);
  t.same(
    rotated.left_out.map((holder) => holder.id),
    [stranger],
  );
  t.equal(grants?.find((grant) => grant.id === stranger)?.encrypted_key, null);
});

await t.test("a holder without a key reads who can seal it, and has it once a manager opens the folder", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  await bob.client().folders.accept(id);
  const grant = server.folders.get(id)?.grants.find((one) => one.id === bob.session.user.id);
  Object.assign(grant ?? {}, { encrypted_key: null, encrypted_key_alg: null });
  await t.rejects(bob.client().secrets.read(notation), { code: "key_pending", message: /alice@example\.com/ });
  await alice.client().secrets.list();
  t.equal(await bob.client().secrets.read(notation), "s3cret");
});

await t.test(
  "a name of two accepted folders is ambiguous, and one's own folder is the one that is meant",
  async (t) => {
    const { alice, join } = await startCompany(t);
    const bob = await join("bob@example.com");
    const { id: own } = await alice.client().folders.create("production");
    const { id: his } = await bob.client().folders.create("staging");
    await bob.client().folders.share(his, { userId: alice.session.user.id, permission: "read" });
    await bob.client().folders.rename(his, "production");
    t.equal((await alice.client().folders.find("production")).id, own, "the other one was not accepted");
    await alice.client().folders.accept(his);
    await t.rejects(alice.client().folders.find("production"), { code: "name_ambiguous" });
    t.equal((await alice.client().folders.find(his)).id, his);
  },
);

await t.test("a machine accepts a folder only from a manager of a folder that it has", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com", "admin");
  const [{ id: first }, { id: second }] = [
    await alice.client().folders.create("production"),
    await alice.client().folders.create("staging"),
  ];
  const { id: his } = await bob.client().folders.create("trap");
  const machine = await newJoinedMachine(alice, server, [first]);
  const grant = { clientId: machine.client_id, permission: "read" } as const;
  await alice.client().machines.share(newId(), { ...grant, folderId: second });
  await bob.client().machines.share(newId(), { ...grant, folderId: his }, () => Promise.resolve(true));
  await alice.client().secrets.set("coffer://staging/database/field/password", "s3cret");
  await bob.client().secrets.set("coffer://trap/database/field/password", "tr0jan");
  const client = createClient(machine);
  t.equal(await client.read("coffer://staging/database/field/password"), "s3cret");
  await t.rejects(client.read("coffer://trap/database/field/password"), { code: "not_accepted" });
});

await t.test(
  "a machine that ends before it joins can join after any entry of a manager, until it is gone",
  async (t) => {
    const { alice, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const request = {
      ...{ applicationId: newId(), name: "web" },
      folders: [{ folderId: id, permission: "read" as const }],
    };
    /** A machine that spends a token, and ends before it sends its join. */
    const begun = async (): Promise<MachineConfiguration> => {
      const { token } = await alice.client().tokens.create(request);
      let kept: MachineConfiguration | undefined;
      const save = (configuration: MachineConfiguration): Promise<void> => {
        kept = configuration;
        return Promise.resolve();
      };
      const ending: typeof fetch = (input, init) =>
        (input as string).endsWith("/history") && init?.method === "POST"
          ? Promise.reject(new TypeError("the process ends"))
          : fetch(input, init);
      await t.rejects(bootstrap({ url: server.url, token, save }, { fetch: ending, attempts: 1 }), { code: "network" });
      return kept as MachineConfiguration;
    };
    const [first, second] = [await begun(), await begun()];
    await alice.client().folders.rotate(id);
    await alice.client().tokens.create(request);
    const save = (): Promise<void> => Promise.resolve();
    const machine = await bootstrap({ url: server.url, pending: first, save });
    await alice.client().secrets.list();
    t.equal(await createClient(machine).read(notation), "s3cret");

    const folder = server.folders.get(id);
    if (folder !== undefined) folder.grants = folder.grants.filter((grant) => grant.id !== second.client_id);
    await alice.client().folders.rotate(id);
    const open = server.histories.get(`folder:${id}`)?.state.invitations.map(({ tag }) => tag) ?? [];
    t.equal(open.length, 1, "that of the unused token");
    t.notOk(open.includes(second.token_hash ?? ""), "the machine that is gone is invited no more");
  },
);

await t.test("a machine that trusts a restored history again has the key that its token brought", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const machine = await newJoinedMachine(alice, server, [id]);
  const res = `folder:${id}` as const;
  const [history, folder] = [server.histories.get(res), structuredClone(server.folders.get(id))];
  if (history === undefined || folder === undefined) throw new Error("no folder");
  const trust = memoryTrust(machine.histories);
  await alice.client().folders.rotate(id);
  t.equal(await createClient(machine, { trust }).read(notation), "s3cret");

  // The service is restored from a backup of before the rotation, and the machine begins again.
  server.histories.set(res, history);
  server.folders.set(id, folder);
  const client = createClient({ ...machine, histories: await trust.load() }, { trust });
  await t.rejects(client.read(notation), { code: "history_rolled_back" });
  await client.trustFolder(id, () => Promise.resolve(true));
  t.equal(await client.read(notation), "s3cret");
});

await t.test("a device that trusts again does not lose that to another device's keyring", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const res = `folder:${id}` as const;
  const restored = server.histories.get(res);
  if (restored === undefined) throw new Error("no history");
  await alice.client().folders.rename(id, "other");
  const second = memoryTrust();
  await alice.client({ trust: second }).folders.create("staging");

  // The service is restored from a backup; the other device was the last that wrote the keyring.
  server.histories.set(res, restored);
  for (const trust of [alice.trust, second]) {
    const device = alice.client({ trust });
    await t.rejects(device.folders.rename(id, "again"), { code: "history_rolled_back" });
    await device.folders.trust(id, () => Promise.resolve(true));
    t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  }
  t.equal(await alice.client().secrets.read(notation), "s3cret");
});

await t.test("a machine accepts a folder as soon as who gave it manages one that it has", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com", "admin");
  const { id: first } = await alice.client().folders.create("production");
  const { id: his } = await bob.client().folders.create("staging");
  const machine = await newJoinedMachine(alice, server, [first]);
  const grant = { clientId: machine.client_id, folderId: his, permission: "read" } as const;
  await bob.client().secrets.set("coffer://staging/database/field/password", "s3cret");
  await bob.client().machines.share(newId(), grant, () => Promise.resolve(true));
  const early = createClient(machine, { freshSeconds: 0 });
  await t.rejects(early.read("coffer://staging/database/field/password"), { code: "not_accepted" });
  await alice.client().folders.share(first, { userId: bob.session.user.id, permission: "manage" });
  t.equal(await early.read("coffer://staging/database/field/password"), "s3cret", "it was seen before");
  const late = createClient(machine);
  t.equal(await late.read("coffer://staging/database/field/password"), "s3cret", "both are new to it");
});

await t.test("a machine accepts no folder from a manager who was removed from one of its folders", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com", "admin");
  const { id: first } = await alice.client().folders.create("production");
  const { id: his } = await bob.client().folders.create("staging");
  const { id: later } = await bob.client().folders.create("trap");
  for (const name of ["production", "staging"])
    await (name === "production" ? alice : bob).client().secrets.set(`coffer://${name}/database/field/password`, name);
  await bob.client().secrets.set("coffer://trap/database/field/password", "tr0jan");
  await alice.client().folders.share(first, { userId: bob.session.user.id, permission: "manage" });
  const machine = await newJoinedMachine(alice, server, [first]);
  const grant = { clientId: machine.client_id, permission: "read" } as const;
  await bob.client().machines.share(newId(), { ...grant, folderId: his }, () => Promise.resolve(true));
  const trust = memoryTrust(machine.histories);
  const client = createClient(machine, { trust, freshSeconds: 0 });
  t.equal(await client.read("coffer://staging/database/field/password"), "staging");

  // The service shows his own folder as it was: only the other one says that he is gone.
  await alice.client().folders.unshare(first, bob.session.user.id);
  await alice.client().folders.rotate(first);
  t.equal(await client.read("coffer://production/database/field/password"), "production");
  await alice.client().folders.rotate(first);
  t.equal(await client.read("coffer://production/database/field/password"), "production", "after a later entry");
  await bob.client().machines.share(newId(), { ...grant, folderId: later }, () => Promise.resolve(true));
  await t.rejects(client.read("coffer://trap/database/field/password"), {
    code: "not_accepted",
    message: /nobody who manages a folder of this machine.*coffer folder trust .* --config/,
  });
  const restarted = createClient(machine, { trust, freshSeconds: 0 });
  await t.rejects(restarted.read("coffer://trap/database/field/password"), { code: "not_accepted" });
  // It reads the newer entries of its own folder first, however late they come.
  server.lie = async ({ path }, { body }) => {
    if (path.includes(`${first}/history`)) await setTimeout(50);
    return body;
  };
  const older = createClient(machine, { trust: memoryTrust(machine.histories) });
  await t.rejects(older.read("coffer://trap/database/field/password"), { code: "not_accepted" }, "an older file");
  server.lie = (_request, { body }) => body;

  await alice.client().folders.share(first, { userId: bob.session.user.id, permission: "manage" });
  t.equal(await client.read("coffer://trap/database/field/password"), "tr0jan", "he manages it again");
});

await t.test("a machine's folder from a manager takes no name of a folder of others", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com", "admin");
  const { id: first } = await alice.client().folders.create("production");
  const { id: shared } = await alice.client().folders.create("staging");
  await alice.client().folders.share(shared, { userId: bob.session.user.id, permission: "manage" });
  const { id: his } = await bob.client().folders.create("production");
  await bob.client().secrets.set(`coffer://${his}/database/field/password`, "tr0jan");
  const machine = await newJoinedMachine(alice, server, [first, shared]);
  const trust = memoryTrust(machine.histories);
  const grant = { clientId: machine.client_id, permission: "write" } as const;
  await bob.client().machines.share(newId(), { ...grant, folderId: his }, () => Promise.resolve(true));
  const hide = (id: string): void => {
    server.lie = ({ path }, { body }) =>
      path === "/api/sm/v1/folders"
        ? { data: (body as { data: { id: string }[] }).data.filter((one) => one.id !== id) }
        : body;
  };
  hide(first);
  const client = createClient(machine, { trust, freshSeconds: 0 });
  await client.folders();
  await t.rejects(client.set("coffer://production/database/field/password", "n3w"), {
    code: "name_ambiguous",
    message: new RegExp(`${his} or ${first}.*coffer folder trust ${his} --config`),
  });
  t.equal(await client.read(`coffer://${his}/database/field/password`), "tr0jan", "by its id");
  await client.trustFolder(his, () => Promise.resolve(true));
  t.equal(await client.read(notation), "tr0jan", "after words were compared");

  // Who manages the other folder may replace it.
  const { id: next } = await alice.client().folders.create("staging");
  await alice.client().secrets.set(`coffer://${next}/database/field/password`, "s3cret");
  await alice.client().machines.share(newId(), { ...grant, folderId: next }, () => Promise.resolve(true));
  hide(shared);
  await client.folders();
  t.equal(await client.read("coffer://staging/database/field/password"), "s3cret");
});

await t.test("a machine that a manager gives a folder before it has joined joins, and has both", async (t) => {
  const { alice, server } = await startCompany(t);
  const [first, second] = [
    await alice.client().folders.create("production"),
    await alice.client().folders.create("staging"),
  ];
  await alice.client().secrets.set("coffer://staging/database/field/password", "s3cret");
  const folders = [{ folderId: first.id, permission: "read" as const }];
  const { token } = await alice.client().tokens.create({ applicationId: newId(), name: "web", folders });
  let kept: MachineConfiguration | undefined;
  const save = (configuration: MachineConfiguration): Promise<void> => {
    kept = configuration;
    return Promise.resolve();
  };
  const ending: typeof fetch = (input, init) =>
    (input as string).endsWith("/folders") ? Promise.reject(new TypeError("the process ends")) : fetch(input, init);
  await t.rejects(bootstrap({ url: server.url, token, save }, { fetch: ending, attempts: 1 }), { code: "network" });
  const grant = { clientId: kept?.client_id ?? "", folderId: second.id, permission: "read" as const };
  await alice.client().machines.share(newId(), grant, () => Promise.resolve(true));
  const machine = await bootstrap({ url: server.url, pending: kept, save });
  t.same(
    machine.folders.map(({ name, key }) => [name, key !== null]),
    [
      ["production", true],
      ["staging", true],
    ],
  );
  t.equal(await createClient(machine).read("coffer://staging/database/field/password"), "s3cret");
});

await t.test("who rotates has the new key, also when the service calls everybody suspended", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  await bob.client().folders.accept(id);
  server.lie = ({ path, method }, { body }) =>
    path === "/api/org/members" && method === "GET"
      ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, status: "suspended" })) }
      : body;
  await alice.client().folders.rotate(id);
  server.lie = (_request, { body }) => body;
  t.equal(await alice.client().secrets.read(notation), "s3cret");
  t.equal(
    await bob.client().secrets.read(notation),
    "s3cret",
    "the others are sealed to when the folder is opened next",
  );
});

await t.test(
  "who was taken off a folder gets no later key from a service that goes on listing the person",
  async (t) => {
    const { alice, join, server } = await startCompany(t);
    const { id } = await alice.client().folders.create("production");
    await alice.client().secrets.set(notation, "s3cret");
    const bob = await join("bob@example.com");
    const userId = bob.session.user.id;
    const machine = await newJoinedMachine(alice, server, [id]);
    await alice.client().folders.share(id, { userId, permission: "read" });
    const held = server.folders.get(id);
    for (const end of [
      () => alice.client().folders.unshare(id, userId),
      () => alice.client().machines.remove(newId(), machine.client_id),
    ]) {
      const before = held?.grants ?? [];
      await end();
      const after = held?.grants ?? [];
      const refused = { code: "holder_unconfirmed", message: /access you have ended/ };
      if (held !== undefined) held.grants = before;
      await t.rejects(alice.client().folders.rotate(id), refused);
      if (held !== undefined) held.grants = after;
    }
    await alice.client().folders.rotate(id);
    await alice.client().folders.share(id, { userId, permission: "read" });
    await alice.client().folders.rotate(id);
    await bob.client().folders.accept(id);
    t.equal(await bob.client().secrets.read(notation), "s3cret", "given again, the person has the key");
  },
);

await t.test("a machine does not join a history of the service's own that names the machine already", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const res = `folder:${id}` as const;
  const [mallory, key] = [await newKeyPair(), newKey()];
  const [application] = await alice.client().applications.list();
  const folders = [{ folderId: id, permission: "read" as const }];
  const { token } = await alice.client().tokens.create({ applicationId: application?.id ?? "", name: "web", folders });
  const save = async ({ client_id, public_key }: MachineConfiguration): Promise<void> => {
    const who = `user:${newId()}` as const;
    const { text } = await sign(null, res, who, mallory.privateKey, {
      org: newId(),
      name: "production",
      set: [
        { who, key: mallory.publicKey, perm: "manage" },
        { who: `client:${client_id}`, key: public_key, perm: "read" },
      ],
      ver: 1,
      check: await keyCheck(key, res, 1),
    });
    const encrypted_key = await seal(public_key, key, contexts.sharedFolderKey(id));
    server.lie = ({ path, method }, { body }) => {
      if (method === "GET" && path.includes(`/folders/${id}/history`)) return { data: [text], history_seq: 0 };
      if (method !== "GET" || path !== "/api/sm/v1/folders") return body;
      const { data } = body as { data: object[] };
      const lie = { encrypted_key, encrypted_key_alg: "jwe", key_version: 1, history_seq: 0 };
      return { data: data.map((one) => ({ ...one, ...lie })) };
    };
  };
  await t.rejects(bootstrap({ url: server.url, token, save }), { code: "join_invalid" });
});

await t.test(
  "an invitation to what is no e-mail address is refused as that, and nothing is signed or sent",
  async (t) => {
    const { alice, server } = await startCompany(t);
    const before = server.received.length;
    for (const email of ["bob", "bob@", "bob bob@example.com", "", `${"b".repeat(250)}@example.com`])
      await t.rejects(alice.client().invites.create(email, "member"), {
        code: "invalid_request",
        message: `${email} is not an e-mail address`,
      });
    t.equal(server.received.length, before);
  },
);

await t.test("a person does not join a history of the service's own that names the person already", async (t) => {
  const { alice, server } = await startCompany(t);
  const bob = await memberOf(server, "bob@example.com");
  const { token } = await alice.client().invites.create("bob@example.com", "member");
  const [mallory, org, who] = [await newKeyPair(), newId(), `user:${newId()}` as const];
  const { text } = await sign(null, `org:${org}`, who, mallory.privateKey, {
    name: "Example",
    set: [
      { who, key: mallory.publicKey, perm: "manage", email: "alice@example.com" },
      { who: `user:${bob.session.user.id}`, key: bob.session.public_key, perm: "read", email: "bob@example.com" },
    ],
  });
  server.lie = ({ path }, { body }) => (path === "/api/org/invites/history" ? { data: [text], history_seq: 0 } : body);
  await t.rejects(bob.client().invites.accept(token), { code: "join_invalid" });
});

await t.test("an invitation that was revoked admits nobody, although the service keeps it", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const mallory = await memberOf(server, "mallory@example.com");
  const { token, id } = await alice.client().invites.create("mallory@example.com", "admin");
  const kept = structuredClone(server.organizations.get(organizationId)?.invites ?? []);
  t.match(await alice.client().invites.remove(id), [{ name: "Example", email: "mallory@example.com" }]);
  const organization = server.organizations.get(organizationId);
  if (organization !== undefined) organization.invites = kept;
  await t.rejects(mallory.client().invites.accept(token), { code: "join_invalid" });
  t.equal(server.histories.get(`org:${organizationId}`)?.state.holders.length, 1);
  t.same(await alice.client().invites.remove(id), [], "again");
});

await t.test("a token that was revoked admits no machine, although the service keeps it", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [application] = await alice.client().applications.list();
  const applicationId = application?.id ?? "";
  const folders = [{ folderId: id, permission: "read" as const }];
  const { token } = await alice.client().tokens.create({ applicationId, name: "web", folders });
  const [listed] = await alice.client().tokens.list(applicationId);
  const keeps: typeof fetch = (input, init) =>
    init?.method === "DELETE" ? Promise.resolve(new Response(null, { status: 204 })) : fetch(input, init);
  const closed = await alice.client({ fetch: keeps }).tokens.remove(applicationId, listed?.id ?? "");
  t.match(closed, [{ name: "production", email: null }]);
  await t.rejects(bootstrap({ url: server.url, token, save: () => Promise.resolve() }), { code: "join_invalid" });
  t.equal(server.histories.get(`folder:${id}`)?.state.holders.length, 1);
});

await t.test("an invitation does not replace the history of an organization that the person knows", async (t) => {
  const { alice, join, server, organizationId } = await startCompany(t);
  await join("bob@example.com");
  const folder = await alice.client().folders.create("production");
  // A stranger's history under the id of alice's organization, with an invitation for alice at its end.
  const stranger = await memberOf(server, "eve@example.com");
  await stranger.client().organizations.create("Club");
  const { token } = await stranger.client().invites.create("alice@example.com", "member");
  const { tokenHash: tag, wrapKey } = await readInviteToken(token);
  const res = `org:${organizationId}` as const;
  const by = `user:${stranger.session.user.id}` as const;
  const set = [{ who: by, key: stranger.session.public_key, perm: "manage", email: "eve@example.com" } as const];
  let { text, state } = await sign(null, res, by, stranger.privateKey, { name: "Club", set });
  const entries = [text];
  for (let seq = 1; seq < 9; seq += 1) {
    const request = { tag, wrapKey, kind: "user", perm: "read", email: "alice@example.com" } as const;
    const change = seq < 8 ? { name: "Club" } : { invite: [await makeInvitation(state, res, request)] };
    ({ text, state } = await sign(state, res, by, stranger.privateKey, change));
    entries.push(text);
  }
  server.lie = ({ path, body: sent }, { body }) => {
    if (path !== "/api/org/invites/history") return body;
    const { after = -1 } = JSON.parse(sent) as { after?: number };
    return { data: entries.slice(after + 1), history_seq: entries.length - 1 };
  };
  const before = (await alice.trust.load()).resources[res]?.pin;
  await t.rejects(alice.client().invites.accept(token), { code: "history_forked" });
  t.same((await alice.trust.load()).resources[res]?.pin, before);
  await t.rejects(alice.client({ trust: memoryTrust() }).invites.accept(token), { code: "history_forked" });
  server.lie = (_request, { body }) => body;
  t.equal((await alice.client().folders.list())[0]?.id, folder.id);
  t.equal((await alice.client().members.confirmed()).length, 2);
});

await t.test("a folder that another device has put into the keyring is not adopted", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.list();
  const { id } = await alice.client({ trust: memoryTrust() }).folders.create("production");
  server.lie = ({ method, path }, { body }) => {
    if (method === "GET" && path.endsWith(`${id}/history`)) return { data: [], history_seq: null };
    if (method !== "GET" || path !== "/api/org/folders") return body;
    return { data: (body as { data: object[] }).data.map((view) => ({ ...view, history_seq: null })) };
  };
  const yes = (): Promise<boolean> => Promise.resolve(true);
  const adopt = (): Promise<unknown> => alice.client().folders.adopt(id, yes, yes);
  const keyring = server.keyrings.get(alice.session.user.id);
  server.keyrings.delete(alice.session.user.id);
  await t.rejects(adopt(), { code: "keyring_missing" }, "this device has seen one");
  if (keyring !== undefined) server.keyrings.set(alice.session.user.id, keyring);
  await t.rejects(adopt(), { code: "conflict", message: /one of your devices/ });
  const posted = server.received.filter(({ method, path }) => method === "POST" && path.endsWith("/history"));
  t.same(posted, [], "nothing was signed");
});

await t.test("a machine whose join was stored, and whose answer was lost, finds itself in the history", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const [application] = await alice.client().applications.list();
  const folders = [{ folderId: id, permission: "read" as const }];
  const { token } = await alice.client().tokens.create({ applicationId: application?.id ?? "", name: "web", folders });
  const saved: MachineConfiguration[] = [];
  const save = (configuration: MachineConfiguration): Promise<void> => {
    saved.push(configuration);
    // The join is stored and its answer is lost: nothing after it is kept.
    return configuration.histories === undefined ? Promise.resolve() : Promise.reject(new Error("disk full"));
  };
  await t.rejects(bootstrap({ url: server.url, token, save }), { message: "disk full" });
  const pending = saved.find(({ histories }) => histories === undefined);
  const machine = await bootstrap({ url: server.url, pending, save: () => Promise.resolve() });
  t.ok(machine.histories?.resources[`folder:${id}`]?.accepted);
});

await t.test("a device without pins trusts nothing when the keyring is not there, or is older", async (t) => {
  const { alice, server } = await startCompany(t);
  const user = alice.session.user.id;
  const keyring = server.keyrings.get(user);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  server.keyrings.delete(user);
  await t.rejects(alice.client({ trust: memoryTrust() }).secrets.read(notation), { code: "keyring_missing" });
  const trust = memoryTrust();
  const shown: string[] = [];
  await alice.client({ trust }).keyring.trust((all) => Promise.resolve(shown.push(...all.map(({ name }) => name)) > 0));
  t.same(shown, ["Example", "production"]);
  t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  const troubles: string[] = [];
  if (keyring !== undefined) server.keyrings.set(user, keyring);
  await alice.client({ onKeyringTrouble: ({ code }) => void troubles.push(code) }).folders.rename(id, "other");
  t.same(troubles, ["keyring_rolled_back"]);
});

await t.test("what `keyring trust` shows is not trusted before the answer", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const trust = memoryTrust();
  const device = alice.client({ trust });
  // The service shows another history of the folder to a device that has seen none.
  const [who, res] = [`user:${alice.session.user.id}`, `folder:${id}`] as const;
  const set = [{ who, key: alice.session.public_key, perm: "manage" as const }];
  const change = { org: organizationId, name: "production", set, ver: 1, check: "0".repeat(64) };
  const { text, state } = await sign(null, res, who, alice.privateKey, change);
  server.histories.set(res, { entries: [text], state });

  const seen: unknown[] = [];
  const ask = async (shown: readonly { res: string }[]): Promise<boolean> => {
    seen.push(...shown.map((one) => one.res));
    // Another process goes on from it, and so does this one after a crash.
    t.same(await trust.load(), emptyTrust());
    return false;
  };
  await t.rejects(device.keyring.trust(ask), { code: "access_denied" });
  t.same(seen, [`org:${organizationId}`, res]);
  t.same(await trust.load(), emptyTrust());
  await device.keyring.trust(() => Promise.resolve(true));
  t.equal((await trust.load()).resources[res]?.pin.hash, state.head.hash);
});

await t.test("one false answer about who has a key does not keep a holder from it", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const bob = await join("bob@example.com");
  await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
  await bob.client().folders.accept(id);
  const grant = server.folders.get(id)?.grants.find((one) => one.id === bob.session.user.id);
  Object.assign(grant ?? {}, { encrypted_key: null, encrypted_key_alg: null });
  server.lie = ({ path }, { body }) =>
    path.endsWith("/members")
      ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, has_key: true })) }
      : body;
  await alice.client().folders.list();
  server.lie = (_, { body }) => body;
  await t.rejects(bob.client().secrets.read(notation), { code: "key_pending" });
  // A day later.
  await alice.trust.change((record) => {
    const trusted = record.resources[`folder:${id}`];
    if (trusted?.sealed_at !== undefined) trusted.sealed_at -= 25 * 60 * 60 * 1000;
    return record;
  });
  await alice.client().folders.list();
  t.equal(await bob.client().secrets.read(notation), "s3cret");
});

await t.test("`keyring trust` forgets nothing that the service does not show", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const mallory = await join("mallory@example.com");
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  await alice.client().folders.share(id, { userId: mallory.session.user.id, permission: "read" });
  const before = structuredClone([server.folders.get(id), server.histories.get(`folder:${id}`)] as const);
  await alice.client().folders.unshare(id, mallory.session.user.id);
  await alice.client().folders.rotate(id);
  server.folders.delete(id);
  await alice.client().keyring.trust(() => Promise.resolve(true));
  // The folder as it was before the removal.
  if (before[0] !== undefined) server.folders.set(id, before[0]);
  if (before[1] !== undefined) server.histories.set(`folder:${id}`, before[1]);
  await t.rejects(alice.client().secrets.set(notation, "new"), { code: "history_rolled_back" });
  const other = alice.client({ trust: memoryTrust() });
  await t.rejects(other.secrets.set(notation, "new"), { code: "history_rolled_back" }, "nor does the keyring");
});

await t.test("a folder that cannot be verified does not keep the others from being trusted", async (t) => {
  const { alice, join, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const { id } = await alice.client().folders.create("broken");
  const bob = await join("bob@example.com");
  const held = server.histories.get(`folder:${id}`);
  if (held === undefined) throw new Error("no history");
  const claims = { res: `folder:${id}`, seq: 1, prev: held.state.head.hash, by: bob.session.user.id, name: "mine" };
  held.entries.push(await rawEntry({ ...claims, by: `user:${claims.by}` }, bob.privateKey));
  held.state = { ...held.state, head: { ...held.state.head, seq: 1 } };
  server.keyrings.delete(alice.session.user.id);
  const [trust, shown] = [memoryTrust(), [] as string[]];
  await alice.client({ trust }).keyring.trust((all) => Promise.resolve(shown.push(...all.map(({ name }) => name)) > 0));
  t.same(shown, ["Example", "production"]);
  t.equal(await alice.client({ trust }).secrets.read(notation), "s3cret");
  t.match(
    (await alice.client({ trust }).folders.list()).map(({ problem }) => problem),
    [null, "history_invalid"],
  );
});

await t.test("a client that is up to date fetches no history", async (t) => {
  const { alice, server } = await startCompany(t);
  await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  await alice.client().secrets.read(notation);
  server.received.length = 0;
  const me = alice.client({ freshSeconds: 0 });
  for (let polls = 0; polls < 3; polls += 1) t.equal(await me.secrets.read(notation), "s3cret");
  t.same(
    server.received.map(({ path }) => path.split("/").at(-1)),
    ["folders", "secrets", "secrets", "secrets"],
  );
});

await t.test("a machine whose join was acknowledged once and not stored joins again", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [application] = await alice.client().applications.list();
  const { token } = await alice.client().tokens.create({
    applicationId: application?.id ?? "",
    name: "web",
    folders: [{ folderId: id, permission: "read" }],
  });
  let lies = 0;
  const configuration = await bootstrap(
    { url: server.url, token, save: () => Promise.resolve() },
    {
      fetch(input, init) {
        const isJoin = init?.method === "POST" && typeof input === "string" && input.endsWith("/history");
        if (!isJoin || lies > 0) return fetch(input, init);
        lies += 1;
        return Promise.resolve(Response.json({ history_seq: 2 }, { status: 201 }));
      },
    },
  );
  t.equal(lies, 1);
  t.same(configuration.histories?.resources[`folder:${id}`]?.pin, server.histories.get(`folder:${id}`)?.state.head);
  t.equal(await createClient(configuration).read(notation), "s3cret");
});

await t.test("one false acknowledgement of the keyring does not part this device from the others", async (t) => {
  const { alice, server } = await startCompany(t);
  const other = memoryTrust();
  await alice.client({ trust: other }).folders.list();
  let lies = 0;
  const lying: typeof fetch = (input, init) => {
    if (init?.method !== "PUT" || typeof input !== "string" || !input.endsWith("/keyring") || lies > 0)
      return fetch(input, init);
    lies += 1;
    return Promise.resolve(Response.json({ version: 1 }));
  };
  const troubles: string[] = [];
  const onKeyringTrouble = ({ code }: { code: string }): void => void troubles.push(code);
  await alice.client({ fetch: lying, onKeyringTrouble }).folders.create("production");
  t.equal(lies, 1);
  const { keyring } = await alice.trust.load();
  t.equal(server.keyrings.get(alice.session.user.id)?.version, keyring);
  t.match(await alice.client({ trust: other }).folders.list(), [{ name: "production", problem: null }]);
  t.same(troubles, []);
});

await t.test("an offer is accepted under the name that was shown", async (t) => {
  const { alice, join } = await startCompany(t);
  const bob = await join("bob@example.com");
  const share = async (name: string): Promise<string> => {
    const { id } = await alice.client().folders.create(name);
    await alice.client().folders.share(id, { userId: bob.session.user.id, permission: "read" });
    return id;
  };
  const [production, scratch] = [await share("production"), await share("scratch")];
  await bob.client().folders.accept(production);
  const offer = await bob.client().folders.offer(scratch);
  // The service lets the other folder have the name, and hides the first.
  await alice.client().folders.rename(production, "former");
  await alice.client().folders.rename(scratch, "production");
  const hiding: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (typeof input !== "string" || !input.endsWith("/api/org/folders")) return response;
    const { data } = (await response.json()) as { data: { id: string }[] };
    return Response.json({ data: data.filter(({ id }) => id !== production) });
  };
  const deceived = bob.client({ fetch: hiding });
  await deceived.folders.list();
  await deceived.folders.accept(scratch, offer);
  await t.rejects(deceived.folders.find("production"), { code: "name_ambiguous" });
  t.equal((await deceived.folders.find(scratch)).id, scratch);
  await deceived.folders.accept(scratch, await deceived.folders.offer(scratch));
  t.equal((await deceived.folders.find("production")).id, scratch, "the new name was shown and accepted");
});

await t.test("an offer names the folder of the same name that the service may hide", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com");
  const own = await alice.client().folders.create("production");
  const { id } = await bob.client().folders.create("Production");
  await bob.client().folders.share(id, { userId: alice.session.user.id, permission: "write" });
  server.lie = ({ path }, { body }) =>
    path === "/api/org/folders"
      ? { data: (body as { data: { id: string }[] }).data.filter((one) => one.id !== own.id) }
      : body;
  t.match(await alice.client().folders.offer(id), { name: "Production", same_name: [own.id] });
});

await t.test("the members of a folder are those of its history, whatever the service lists", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const [bob, eve, carl] = [
    await join("bob@example.com"),
    await join("eve@example.com"),
    await join("carl@example.com"),
  ];
  for (const { session } of [bob, eve])
    await alice.client().folders.share(id, { userId: session.user.id, permission: "manage" });
  const members = async () =>
    (await alice.client().folders.members(id)).map(({ name, permission, problem, ended }) => {
      return { name, permission, problem, ended };
    });
  const ofAlice = { name: "alice@example.com", permission: "manage", problem: null, ended: false };
  const ofBob = { ...ofAlice, name: "bob@example.com" };
  t.same(await members(), [ofAlice, ofBob, { ...ofBob, name: "eve@example.com" }]);
  // The service hides one, makes the other a reader, and lists somebody else.
  const listed = server.folders.get(id);
  const grants = [...(listed?.grants ?? [])];
  const lie = grants.flatMap((grant) => {
    if (grant.id === eve.session.user.id) return [{ ...grant, id: carl.session.user.id }];
    return grant.id === bob.session.user.id ? [{ ...grant, permission: "read" as const }] : [grant];
  });
  if (listed !== undefined) listed.grants = lie;
  t.same(await members(), [
    ofAlice,
    ofBob,
    { name: "carl@example.com", permission: "manage", problem: "holder_unconfirmed", ended: false },
    { name: "eve@example.com", permission: "manage", problem: null, ended: true },
  ]);
  await alice.client().folders.rotate(id);
  t.same(
    (await members()).map(({ ended }) => ended),
    [false, false, false],
  );
});

await t.test("a member that the service does not list any more is ended, and the rotation drops it", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const bob = await join("bob@example.com");
  const userId = bob.session.user.id;
  await alice.client().folders.share(id, { userId, permission: "read" });
  const gone: typeof fetch = (input, init) =>
    init?.method === "DELETE"
      ? Promise.resolve(Response.json({ error: "not_found" }, { status: 404 }))
      : fetch(input, init);
  const client = alice.client({ fetch: gone });
  await client.folders.unshare(id, userId);
  await t.rejects(client.folders.rotate(id), { code: "holder_unconfirmed" }, "the service lists it still");
  const folder = server.folders.get(id);
  if (folder !== undefined) folder.grants = folder.grants.filter((grant) => grant.id !== userId);
  t.match(await client.folders.rotate(id), { dropped: [{ id: userId }] });
  await t.rejects(client.folders.unshare(id, userId), { code: "not_found" });
});
