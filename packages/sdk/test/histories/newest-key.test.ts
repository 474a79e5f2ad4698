import {
  box,
  type Context,
  contexts,
  encodeRecord,
  encodeText,
  keyCheck,
  newKey,
  openSealed,
  seal,
  unboxBound,
} from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { until } from "@coffer/testkit";
import t from "tap";
import type { Test } from "tap";
import { createClient, memoryTrust, type TrustStorage } from "../../src/index.ts";
import type { RecordView, VaultView } from "../../src/vaults/views.ts";
import type { FolderView, SecretView } from "../../src/views.ts";
import { delayOf, type Member, newJoinedMachine, signPastClients, startCompany } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";
import { Refusal } from "../server/refusal.ts";

// A client keeps the keys that it has opened in memory. After it has seen a rotation, the key from
// before is of no use any more, whatever the service shows: a person who was removed has that key.

const notation = "coffer://payroll/database/field/password";
const login = { type: "login", fields: { password: "s3cret" } };
const idOf = ({ session }: Member): string => session.user.id;

/** A key as it was sealed to a person. */
async function keyOf({ privateKey }: Member, sealed: string | null | undefined, context: Context): Promise<Uint8Array> {
  return openSealed(privateKey, sealed ?? "", context);
}

/** The sent records and secrets that this key opens. */
async function sentUnder({ received }: HistoryServer, key: Uint8Array): Promise<string[]> {
  const opened: string[] = [];
  for (const { method, path, body } of received) {
    if (method === "GET" || body === "") continue;
    const parts = path.split("/");
    const [vault = "", last = ""] = [parts[3], parts.at(-1)];
    const sent = JSON.parse(body) as Sent & { records?: Sent[] };
    for (const { id = last, uid = last, encrypted_data: record, wrapped_dek: dek } of [sent, ...(sent.records ?? [])]) {
      const isOpen =
        (record !== undefined && (await opens(key, record, contexts.record(vault, id)))) ||
        (dek !== undefined && (await opens(key, dek, contexts.dek(uid))));
      if (isOpen) opened.push(`${method} ${path}`);
    }
  }
  return opened;
}

interface Sent {
  id?: string;
  uid?: string;
  encrypted_data?: string;
  wrapped_dek?: string;
}

function opens(key: Uint8Array, sealed: string, context: Context): Promise<boolean> {
  return unboxBound(key, sealed, context).then(
    () => true,
    () => false,
  );
}

/** Anna's vault, which Bob manages too and Mallory reads. */
async function withVault(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const [anna, bob, mallory] = [
    await company.join("anna@example.com"),
    await company.join("bob@example.com"),
    await company.join("mallory@example.com"),
  ];
  const { id } = await anna.client().vaults.create("Team", { type: "shared" });
  const record = await anna.client().records.create(id, login);
  await anna.client().vaults.share(id, { userId: idOf(bob), permission: "manage" });
  await anna.client().vaults.share(id, { userId: idOf(mallory), permission: "manage" });
  for (const member of [bob, mallory]) await member.client().vaults.accept(id);
  const members = company.server.vaults.get(id)?.members;
  const sealed = members?.find(({ user_id }) => user_id === idOf(mallory))?.encrypted_key;
  const oldKey = await keyOf(mallory, sealed, contexts.vaultKey(id));
  return { ...company, anna, bob, mallory, id, record, oldKey };
}

await t.test("a cached vault key is not used after a rotation was seen, whatever the service shows", async (t) => {
  const { anna, bob, mallory, server, id, record, oldKey } = await withVault(t);
  const me = bob.client();
  t.match(await me.records.list(id), [{ id: record.id }]);
  const before = structuredClone(server.vaults.get(id)?.members.find(({ user_id }) => user_id === idOf(bob)));
  await anna.client().vaults.unshare(id, idOf(mallory));

  // The history is the true one. The views are older than what the client has.
  const forged = await box(oldKey, encodeRecord({ password: "Mallory's" }), contexts.record(id, record.id));
  const old = (view: VaultView): object => ({ ...view, key_version: 0, encrypted_key: before?.encrypted_key });
  const under = (view: RecordView): object => ({ ...view, encrypted_data: forged });
  server.lie = ({ method, path }, { body }) => {
    if (method !== "GET") return body;
    if (/\/records/.test(path)) {
      const { data } = body as { data?: RecordView[] };
      return data === undefined ? under(body as RecordView) : { data: data.map(under), next_cursor: null };
    }
    return /^\/api\/vaults\/[0-9a-f-]{36}$/.test(path) ? old(body as VaultView) : body;
  };
  server.received.length = 0;
  const refused = { code: "key_rolled_back" };
  await t.rejects(me.records.create(id, login), refused);
  await t.rejects(me.records.update(id, record.id, login), refused);
  await t.rejects(me.records.import(id, [login]), refused);
  await t.rejects(me.records.get(id, record.id), refused, "nor does a value under it count");
  await t.rejects(me.records.list(id), refused);
  await t.rejects(me.records.stableIds(id, ["a"]), refused);
  await t.rejects(me.vaults.share(id, { userId: idOf(anna), permission: "read" }), refused);
  await t.rejects(me.vaults.rotate(id), refused);
  t.same(await sentUnder(server, oldKey), []);
  t.same(
    server.received.filter(({ method, path }) => method !== "GET" && !path.endsWith("/pin")),
    [],
  );
  server.lie = (_, { body }) => body;
  t.match(await me.records.list(id), [{ id: record.id, fields: login.fields }]);
  await me.records.create(id, login);
  t.same(await sentUnder(server, oldKey), []);
});

await t.test("a view from just before a rotation does not take the newest key away", async (t) => {
  const { anna, bob, mallory, server, id } = await withVault(t);
  const me = bob.client();
  const before = structuredClone(server.vaults.get(id)?.members.find(({ user_id }) => user_id === idOf(bob)));
  await anna.client().vaults.unshare(id, idOf(mallory));
  await me.records.list(id);
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && /^\/api\/vaults\/[0-9a-f-]{36}$/.test(path)
      ? { ...(body as VaultView), key_version: 1, encrypted_key: before?.encrypted_key }
      : body;
  t.match(await me.vaults.get(id), { key_version: 2, problem: null });
  await me.records.create(id, login);
  t.equal(server.records.size, 2);
});

await t.test("a cached vault key is not used after the removal of its maker was seen", async (t) => {
  const { alice, bob, mallory, server, id, record, organizationId } = await withVault(t);
  const res = `vault:${id}` as const;
  await alice.client().members.remove(idOf(mallory));
  // The service hides the removal from Bob, and shows a key that Mallory made afterwards.
  const shown = server.histories.get(`org:${organizationId}`)?.entries.slice(0, -1) ?? [];
  let hides = true;
  const key = newKey();
  const forged = await box(key, encodeRecord({ password: "Mallory's" }), contexts.record(id, record.id));
  server.lie = ({ path, method }, { body }) => {
    if (method === "GET" && path.endsWith(record.id)) return { ...(body as RecordView), encrypted_data: forged };
    if (!hides || method !== "GET" || !path.startsWith("/api/org/history")) return body;
    const after = Number(new URL(path, "http://x").searchParams.get("after") ?? -1);
    return { data: shown.slice(after + 1), history_seq: shown.length - 1 };
  };
  await signPastClients(server, mallory, res, { ver: 2, check: await keyCheck(key, res, 2) });
  const vault = server.vaults.get(id);
  const grant = vault?.members.find(({ user_id }) => user_id === idOf(bob));
  if (vault === undefined || grant === undefined) throw new Error("no vault");
  vault.key_version = 2;
  grant.encrypted_key = await seal(bob.session.public_key, key, contexts.vaultKey(id));
  const me = bob.client();
  t.match(await me.records.get(id, record.id), { fields: { password: "Mallory's" } }, "Bob cannot know of it yet");
  hides = false;
  await me.members.confirmed();
  await t.rejects(me.records.get(id, record.id), { code: "signer_removed" });
  await t.rejects(me.records.create(id, login), { code: "signer_removed" });
});

/** Two folders of Anna's. Mallory has the key of the first. */
async function withFolders(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const [anna, bob, mallory] = [
    await company.join("anna@example.com"),
    await company.join("bob@example.com"),
    await company.join("mallory@example.com"),
  ];
  const { id } = await anna.client().folders.create("payroll");
  const { id: other } = await anna.client().folders.create("other");
  await anna.client().secrets.set(notation, "s3cret");
  for (const folder of [id, other])
    await anna.client().folders.share(folder, { userId: idOf(bob), permission: "write" });
  await anna.client().folders.share(id, { userId: idOf(mallory), permission: "read" });
  for (const folder of [id, other]) await bob.client().folders.accept(folder);
  const grants = company.server.folders.get(id)?.grants;
  const sealed = grants?.find((grant) => grant.id === idOf(mallory))?.encrypted_key;
  return {
    ...company,
    anna,
    bob,
    mallory,
    id,
    other,
    oldKey: await keyOf(mallory, sealed, contexts.sharedFolderKey(id)),
  };
}

/**
 * The service shows the rotation of a folder, and fails while the client reads the other folder's
 * history. Then it shows the secrets from before the rotation, and a new one of Mallory's.
 */
async function lieAfterRotation(
  t: Test,
  company: Awaited<ReturnType<typeof withFolders>>,
  trust: TrustStorage,
  see: () => Promise<unknown>,
): Promise<void> {
  const { anna, mallory, server, id, other, oldKey } = company;
  const [first] = structuredClone(server.folders.get(id)?.secrets ?? []);
  const historySeq = server.histories.get(`folder:${id}`)?.state.head.seq;
  if (first === undefined) throw new Error("no secret");
  await anna.client().folders.unshare(id, idOf(mallory));
  await anna.client().folders.rename(other, "another");
  await anna.client().folders.rotate(id);
  const dek = newKey();
  const { uid } = first;
  const forged: Partial<SecretView> = {
    data_encrypted: await box(
      dek,
      encodeText('{"name":"database","fields":{"password":"Mallory\'s"}}'),
      contexts.data(uid),
    ),
    wrapped_dek: await box(oldKey, dek, contexts.dek(uid)),
  };
  const stale = { ...first, ...forged, key_version: 1, history_seq: historySeq };
  server.lie = ({ method, path }, { body }) => {
    if (method === "GET" && path.includes(`${other}/history`)) return new Refusal(503, "unavailable");
    if (method === "GET" && /\/secrets(\?|$)/.test(path)) return { data: [stale] };
    if (method === "GET" && path.endsWith(uid)) return stale;
    return body;
  };
  await t.rejects(see(), { code: "unavailable" });
  const newest = server.histories.get(`folder:${id}`)?.state.head.seq;
  await until("it has seen the rotation", async () => {
    const { resources } = await trust.load();
    return resources[`folder:${id}`]?.pin.seq === newest;
  });
  server.received.length = 0;
}

await t.test("a cached folder key is not used after a rotation was seen", async (t) => {
  const company = await withFolders(t);
  const { bob, server, id, oldKey } = company;
  const me = bob.client({ freshSeconds: 0 });
  t.equal(await me.secrets.read(notation), "s3cret");
  await lieAfterRotation(t, company, bob.trust, () => me.folders.list());
  await t.rejects(me.secrets.read(notation), "a value that Mallory sealed is not read");
  await me.secrets.set(notation, "new").catch(() => undefined);
  await me.secrets.set(notation.replace("database", "mail"), "new").catch(() => undefined);
  t.same(await sentUnder(server, oldKey), []);
  server.lie = (_, { body }) => body;
  t.equal(await me.secrets.read(notation.replace("payroll", id)), "s3cret");
});

await t.test("a machine's cached key is not used after a rotation was seen", async (t) => {
  const company = await withFolders(t);
  const { anna, server, id, other, oldKey } = company;
  const configuration = await newJoinedMachine(anna, server, [id, other]);
  const trust = memoryTrust(configuration.histories);
  const me = createClient(configuration, { attempts: 1, freshSeconds: 0, trust });
  t.equal(await me.read(notation), "s3cret");
  await lieAfterRotation(t, company, trust, () => me.folders());
  await t.rejects(me.read(notation), "a value that Mallory sealed is not read");
  await me.set(notation.replace("database", "mail"), "new").catch(() => undefined);
  t.same(await sentUnder(server, oldKey), []);
});

/** Whether a device has verified the newest entry. */
async function hasSeen({ histories }: HistoryServer, trust: TrustStorage, res: Resource): Promise<void> {
  const newest = histories.get(res)?.state.head.seq;
  await until(`it has seen entry ${newest} of ${res}`, async () => {
    const { resources } = await trust.load();
    return resources[res]?.pin.seq === newest;
  });
}

/**
 * The service answers with the folders from before a rotation, and delays the history of the other
 * folder until a parallel call has seen the rotation.
 */
async function delayFolders(
  company: Awaited<ReturnType<typeof withFolders>>,
  trust: TrustStorage,
  { list, write, see = list }: Record<"list" | "write", () => Promise<unknown>> & { see?: () => Promise<unknown> },
): Promise<void> {
  const { anna, mallory, server, id, other } = company;
  let hides = false;
  const delay = delayOf(({ method, path }) => hides && method === "GET" && path.includes(`${other}/history`));
  let shown: object[] | undefined;
  server.lie = ({ method, path }, { body }) => {
    if (method === "GET" && /\/secrets(\?|$)/.test(path)) return { data: [] };
    if (!hides || method !== "GET" || !/\/folders$/.test(path)) return delay.of({ method, path }, body);
    const { data } = body as { data: { id: string }[] };
    return { data: data.map((view) => (view.id === id ? shown?.find((one) => "id" in one && one.id === id) : view)) };
  };
  const before = server.lie;
  server.lie = (request, answer) => {
    const { data } = (answer.body ?? {}) as { data?: object[] };
    if (request.method === "GET" && /\/folders$/.test(request.path)) shown = structuredClone(data);
    return answer.body;
  };
  await list();
  server.lie = before;
  await anna.client().folders.rename(other, "another");
  await anna.client().folders.unshare(id, idOf(mallory));
  await anna.client().folders.rotate(id);
  hides = true;
  server.received.length = 0;
  const writing = write();
  await delay.reached;
  hides = false;
  const seeing = see();
  await hasSeen(server, trust, `folder:${id}`);
  delay.release();
  await Promise.all([writing, seeing]);
  server.lie = (_, { body }) => body;
}

await t.test("a folder key is not used after a parallel call has seen a rotation", async (t) => {
  const company = await withFolders(t);
  const { bob, server, oldKey } = company;
  const me = bob.client({ freshSeconds: 0 });
  await delayFolders(company, bob.trust, {
    write: () => me.secrets.set(notation.replace("database", "mail"), "new"),
    list: () => me.folders.list(),
    see: () => me.folders.accept(company.id),
  });
  t.same(await sentUnder(server, oldKey), []);
  t.ok(
    server.received.some(({ method, path }) => method === "POST" && path.endsWith("/secrets")),
    "the secret is written under the newest key",
  );
});

await t.test("a machine's folder key is not used after a parallel call has seen a rotation", async (t) => {
  const company = await withFolders(t);
  const { anna, server, id, other, oldKey } = company;
  const configuration = await newJoinedMachine(anna, server, [id, other]);
  const trust = memoryTrust(configuration.histories);
  const me = createClient(configuration, { attempts: 1, freshSeconds: 0, trust });
  await delayFolders(company, trust, {
    write: () => me.set(notation.replace("database", "mail"), "new"),
    list: () => me.folders(),
  });
  t.same(await sentUnder(server, oldKey), []);
});

await t.test("a list of folders has no key whose rotation a parallel call has seen", async (t) => {
  const company = await withFolders(t);
  const { anna, server, id, other, oldKey } = company;
  const configuration = await newJoinedMachine(anna, server, [id, other]);
  const trust = memoryTrust(configuration.histories);
  const me = createClient(configuration, { attempts: 1, freshSeconds: 0, trust });
  let listed: Awaited<ReturnType<typeof me.folders>> = [];
  await delayFolders(company, trust, { write: async () => (listed = await me.folders()), list: () => me.folders() });
  const { key } = listed.find((folder) => folder.id === id) ?? {};
  t.ok(key instanceof Uint8Array);
  t.notSame(key, oldKey);
});

await t.test("a secret whose first uid is taken is not sealed under the key from before a rotation", async (t) => {
  const company = await withFolders(t);
  const { anna, bob, mallory, server, id, oldKey } = company;
  const me = bob.client({ freshSeconds: 0 });
  await me.folders.list();
  const delay = delayOf(({ method, path }) => method === "POST" && path.endsWith("/secrets"));
  let isFirst = true;
  server.lie = (request, { body }) => {
    if (request.method !== "POST" || !request.path.endsWith("/secrets") || !isFirst) return body;
    isFirst = false;
    return delay.of(request, new Refusal(400, "invalid_request", "taken", [{ field: "uid", issue: "taken" }]));
  };
  const writing = me.secrets.set(notation.replace("database", "mail"), "new");
  await delay.reached;
  await anna.client().folders.unshare(id, idOf(mallory));
  await anna.client().folders.rotate(id);
  await me.folders.list();
  const folder = server.folders.get(id);
  if (folder !== undefined) folder.secrets = folder.secrets.filter(({ title }) => title !== "mail");
  server.received.length = 0;
  delay.release();
  await writing;
  t.same(await sentUnder(server, oldKey), []);
});

await t.test("a vault key is not used to write after a parallel call has seen a rotation", async (t) => {
  const { anna, bob, mallory, server, id, oldKey } = await withVault(t);
  const me = bob.client();
  await me.vaults.get(id);
  await anna.client().vaults.update(id, { name: "Renamed" });
  const renamed = server.histories.get(`vault:${id}`)?.entries.length ?? 0;
  const before = structuredClone(server.vaults.get(id)?.members.find(({ user_id }) => user_id === idOf(bob)));
  await anna.client().vaults.unshare(id, idOf(mallory));
  let hides = true;
  const delay = delayOf(({ path }) => hides && /\/members(\?|$)/.test(path));
  server.lie = ({ method, path }, { body }) => {
    if (!hides || method !== "GET") return body;
    if (path.includes(`${id}/history`)) {
      const { data } = body as { data: string[] };
      const after = Number(new URL(path, "http://x").searchParams.get("after") ?? -1);
      return { data: data.slice(0, renamed - after - 1), history_seq: renamed - 1 };
    }
    if (path.endsWith(id)) {
      const old = { key_version: 1, history_seq: renamed - 1, encrypted_key: before?.encrypted_key };
      return { ...(body as VaultView), ...old };
    }
    return delay.of({ method, path }, body);
  };
  server.received.length = 0;
  const writing = me.records.create(id, login);
  await delay.reached;
  hides = false;
  const seeing = me.vaults.get(id);
  await hasSeen(server, bob.trust, `vault:${id}`);
  delay.release();
  await Promise.all([writing, seeing]);
  t.same(await sentUnder(server, oldKey), []);
  t.equal(server.records.size, 2, "the record is written under the newest key");
});

await t.test("a record is not opened with a key whose rotation a parallel call has seen", async (t) => {
  const { anna, bob, mallory, server, id, record, oldKey } = await withVault(t);
  const me = bob.client();
  t.match(await me.records.get(id, record.id), { fields: login.fields });
  await anna.client().vaults.unshare(id, idOf(mallory));
  const forged = await box(oldKey, encodeRecord({ password: "Mallory's" }), contexts.record(id, record.id));
  const delay = delayOf(({ path }) => path.endsWith(record.id));
  server.lie = (request, { body }) =>
    request.path.endsWith(record.id)
      ? delay.of(request, { ...(body as RecordView), encrypted_data: forged })
      : delay.of(request, body);
  const reading = me.records.get(id, record.id);
  await delay.reached;
  await me.vaults.get(id);
  delay.release();
  await t.rejects(reading, { code: "not_decrypted" });
});

/** A network that repeats the first response to each GET once it is frozen. */
function freezer() {
  const answers = new Map<string, Response>();
  const network = {
    isFrozen: false,
    async fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
      const address = input instanceof Request ? input.url : String(input);
      const held = answers.get(address);
      if (network.isFrozen && init?.method === "GET" && held !== undefined) return held.clone();
      const answer = await fetch(input, init);
      if (init?.method === "GET" && !network.isFrozen) answers.set(address, answer.clone());
      return answer;
    },
  };
  return network;
}

await t.test("a folder key is not used after another process of the device has seen a rotation", async (t) => {
  const { anna, bob, mallory, server, id, oldKey } = await withFolders(t);
  const network = freezer();
  const running = bob.client({ freshSeconds: 0, fetch: network.fetch });
  const configuration = await newJoinedMachine(anna, server, [id]);
  const trust = memoryTrust(configuration.histories);
  const machine = createClient(configuration, { attempts: 1, freshSeconds: 0, trust, fetch: network.fetch });
  t.equal(await running.secrets.read(notation), "s3cret");
  t.equal(await running.secrets.read(notation), "s3cret");
  t.equal(await machine.read(notation), "s3cret");
  network.isFrozen = true;
  await anna.client().folders.unshare(id, idOf(mallory));
  await anna.client().folders.rotate(id);
  await bob.client().folders.list();
  await createClient(configuration, { attempts: 1, trust }).folders();
  await hasSeen(server, bob.trust, `folder:${id}`);
  await hasSeen(server, trust, `folder:${id}`);

  server.received.length = 0;
  for (const secrets of [running.secrets, machine]) {
    await t.rejects(secrets.read(notation));
    await secrets.set(notation, "new").catch(() => undefined);
    await secrets.set(notation.replace("database", "mail"), "new").catch(() => undefined);
  }
  t.same(await sentUnder(server, oldKey), []);
  network.isFrozen = false;
  for (const secrets of [running.secrets, machine]) t.equal(await secrets.read(notation), "s3cret");
});

await t.test("a vault key is not used after another process of the device has seen a rotation", async (t) => {
  const { anna, bob, mallory, server, id, oldKey } = await withVault(t);
  const network = freezer();
  const me = bob.client({ fetch: network.fetch });
  t.same((await me.records.list(id)).length, 1);
  network.isFrozen = true;
  await anna.client().vaults.unshare(id, idOf(mallory));
  await bob.client().vaults.list();
  await hasSeen(server, bob.trust, `vault:${id}`);
  server.received.length = 0;
  await t.rejects(me.records.list(id));
  await me.records.create(id, login).catch(() => undefined);
  t.same(await sentUnder(server, oldKey), []);
  network.isFrozen = false;
  t.same((await me.records.list(id)).length, 1);
});

await t.test("a running client uses a folder again after one false answer about its key", async (t) => {
  const { anna, server, id, mallory } = await withFolders(t);
  const configuration = await newJoinedMachine(anna, server, [id]);
  const forged = await seal(mallory.session.public_key, newKey(), contexts.sharedFolderKey(id));
  const lies: ((view: FolderView) => object[])[] = [
    (view) => [{ ...view, encrypted_key: forged, encrypted_key_alg: "jwe" }],
    (view) => [{ ...view, encrypted_key: null, encrypted_key_alg: null }],
    (view) => [{ ...view, key_version: 7 }],
    (view) => [view, view],
  ];
  for (const lie of lies) {
    const machine = createClient(configuration, { attempts: 1, freshSeconds: 0 });
    for (const secrets of [anna.client({ freshSeconds: 0 }).secrets, machine]) {
      server.lie = ({ method, path }, { body }) =>
        method === "GET" && path.endsWith("/folders")
          ? { data: (body as { data: FolderView[] }).data.flatMap((view) => (view.id === id ? lie(view) : [view])) }
          : body;
      await secrets.folders().catch(() => undefined);
      server.lie = (_, { body }) => body;
      t.match(await secrets.list(), [{ title: "database" }]);
      t.equal(await secrets.read(notation), "s3cret");
    }
  }
});
