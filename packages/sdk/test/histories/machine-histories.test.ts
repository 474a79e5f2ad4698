import { setTimeout } from "node:timers/promises";
import { contexts, keyCheck, newId, newKey, newKeyPair, readAccessToken, seal } from "@coffer/crypto";
import { makeInvitation, sign } from "@coffer/history";
import t from "tap";
import { bootstrap, createClient, type MachineConfiguration } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { notation } from "../server/history-lies.ts";
import { newJoinedMachine, signPastClients, startCompany, strangeKey } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";

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
