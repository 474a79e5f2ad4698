import { newAccessToken, newId, newKeyPair, readAccessToken } from "@coffer/crypto";
import { type Change, extendAll, makeInvitation, openInvitation, sign } from "@coffer/history";
import t from "tap";
import { createClient, type PersonClient } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { notation } from "../server/history-lies.ts";
import type { HistoryServer } from "../server/history-server.ts";
import { type Member, newJoinedMachine, signPastClients, startCompany } from "../server/history-people.ts";
import { Refusal } from "../server/refusal.ts";

// A device has ended the access of a member, and no entry says so yet. The service goes on with the member.

const idOf = ({ session }: Member): string => session.user.id;
const yes = (): Promise<boolean> => Promise.resolve(true);

/** A folder of Alice's. Mallory's access has ended, and the service keeps it. */
async function withEnded(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, join, server } = company;
  const mallory = await join("mallory@example.com");
  const { id: folder } = await alice.client().folders.create("production");
  await alice.client().secrets.set("coffer://production/database/field/password", "s3cret");
  await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
  server.loses = ({ method }) => method === "DELETE";
  await alice.client().folders.unshare(folder, idOf(mallory));
  server.loses = () => false;
  return { ...company, mallory, folder };
}

const ways: Record<string, (me: PersonClient, folder: string) => Promise<unknown>> = {
  "folder trust": (me, folder) => me.folders.trust(folder, yes),
  "keyring trust": (me) => me.keyring.trust(yes),
};
for (const [name, trust] of Object.entries(ways))
  await t.test(`${name} does not forget whose access the device has ended`, async (t) => {
    const { alice, server, mallory, folder } = await withEnded(t);
    await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "before");
    await trust(alice.client(), folder);
    await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "after");
    t.equal(server.folders.get(folder)?.key_version, 1);
    await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
    t.match(await alice.client().folders.rotate(folder), { left_out: [] }, "unless it is given again");
  });

await t.test("nor does `folder trust` on a history that is shown from before the access", async (t) => {
  const { alice, server, mallory, folder } = await withEnded(t);
  const res = `folder:${folder}` as const;
  const whole = server.histories.get(res);
  const entries = whole?.entries.slice(0, 1) ?? [];
  server.histories.set(res, { entries, state: (await extendAll(null, res, entries)).state });
  await alice.client().folders.trust(folder, yes);
  if (whole !== undefined) server.histories.set(res, whole);
  await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" });
  await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
  t.match(await alice.client().folders.rotate(folder), { left_out: [] }, "unless it is given again");
});

await t.test("after an entry of its own the device takes what others sign", async (t) => {
  const { alice, join, server, mallory, folder } = await withEnded(t);
  const anna = await join("anna@example.com");
  await alice.client().folders.share(folder, { userId: idOf(anna), permission: "manage" });
  const grants = server.folders.get(folder)?.grants ?? [];
  Object.assign(server.folders.get(folder) ?? {}, { grants: grants.filter(({ id }) => id !== idOf(mallory)) });
  t.match(await alice.client().folders.rotate(folder), { dropped: [{ id: idOf(mallory) }] });
  await anna.client().folders.accept(folder);
  await anna.client().folders.share(folder, { userId: idOf(mallory), permission: "write" });
  t.match(await alice.client().folders.rotate(folder), { left_out: [], dropped: [] });
});

const setHimself = ({ session }: Member) => ({
  set: [{ who: `user:${session.user.id}` as const, key: session.public_key, perm: "manage" as const }],
});

await t.test("a manager whose access the device has ended does not restore it himself", async (t) => {
  const { alice, join, server, mallory, folder } = await withEnded(t);
  const [anna, res] = [await join("anna@example.com"), `folder:${folder}`] as const;
  for (const member of [mallory, anna])
    await alice.client().folders.share(folder, { userId: idOf(member), permission: "manage" });
  server.loses = ({ method }) => method === "DELETE";
  await alice.client().folders.unshare(folder, idOf(mallory));
  server.loses = () => false;
  await signPastClients(server, mallory, res, setHimself(mallory));
  await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" });
  t.equal(server.folders.get(folder)?.key_version, 1);
  // The service may have withheld this one from before.
  await signPastClients(server, anna, res, setHimself(mallory));
  await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "nor does another manager");
  await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "manage" });
  t.match(await alice.client().folders.rotate(folder), { left_out: [] }, "unless it is given again");
});

await t.test("nor while the device ends it in a vault", async (t) => {
  const { alice, server, mallory } = await withEnded(t);
  const { id } = await alice.client().vaults.create("Team", { type: "shared" });
  await alice.client().vaults.share(id, { userId: idOf(mallory), permission: "manage" });
  server.loses = ({ method }) => method === "DELETE";
  server.lie = async ({ method }, { body }) => {
    if (method === "DELETE") await signPastClients(server, mallory, `vault:${id}`, setHimself(mallory));
    return body;
  };
  await t.rejects(alice.client().vaults.unshare(id, idOf(mallory)), { code: "holder_unconfirmed" });
  t.equal(server.vaults.get(id)?.key_version, 1);
});

await t.test("an access whose end the service does not acknowledge has ended; a refusal takes that back", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const mallory = idOf(await join("mallory@example.com"));
  const grant = { userId: mallory, permission: "read" as const };
  const { id: folder } = await alice.client().folders.create("production");
  const { id: vault } = await alice.client().vaults.create("Team", { type: "shared" });
  await alice.client().folders.share(folder, grant);
  await alice.client().vaults.share(vault, grant);
  const end: Record<string, () => Promise<unknown>> = {
    folder: () => alice.client().folders.unshare(folder, mallory),
    vault: () => alice.client().vaults.unshare(vault, mallory),
    member: () => alice.client().members.remove(mallory),
  };
  const rotate: (() => Promise<unknown>)[] = [
    () => alice.client().folders.rotate(folder),
    () => alice.client().vaults.rotate(vault),
  ];
  server.loses = ({ method }) => method === "DELETE";
  const answer = (status: number, code: string): void => {
    server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(status, code) : body);
  };
  for (const [what, work] of Object.entries(end)) {
    answer(403, "access_denied");
    await t.rejects(work(), { code: "access_denied" }, what);
    for (const next of rotate) t.match(await next(), { left_out: [] }, "the member has the next key");
  }
  for (const [what, work] of Object.entries(end)) {
    answer(503, "unavailable");
    await t.rejects(work(), { code: "unavailable" }, what);
    server.lie = (_request, { body }) => body;
    const which = what === "member" ? [0, 1] : [what === "folder" ? 0 : 1];
    for (const index of which) await t.rejects(Promise.resolve(rotate[index]?.()), { code: "holder_unconfirmed" });
    await alice.client().folders.share(folder, grant);
    await alice.client().vaults.share(vault, grant);
  }
});

await t.test("a machine that the device has revoked gets no later key, whenever its join is read", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id: folder } = await alice.client().folders.create("production");
  await alice.client().secrets.set(notation, "s3cret");
  const [application] = await alice.client().applications.list();
  const revoke = async (id: string): Promise<void> => {
    server.loses = ({ method }) => method === "DELETE";
    await alice.client().machines.remove(application?.id ?? "", id);
    server.loses = () => false;
  };
  // Alice's device has not read that this one joined.
  const joined = await newJoinedMachine(alice, server, [folder]);
  await revoke(joined.client_id);
  // This one has not joined, and the service says that its token is not spent.
  server.lie = ({ path }, { body }) => (path === "/api/sm/v1/folders" ? { data: [] } : body);
  const joining = await newJoinedMachine(alice, server, [folder]);
  server.lie = ({ path }, { body }) =>
    path.endsWith("/tokens")
      ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, status: "unused" })) }
      : body;
  await revoke(joining.client_id);
  await createClient(joining).read(notation);
  const holders = server.histories.get(`folder:${folder}`)?.state.holders.map(({ who }) => who);
  t.ok(holders?.includes(`client:${joining.client_id}`), "it joins");
  server.lie = (_request, { body }) => body;
  const grants = server.folders.get(folder)?.grants ?? [];
  const left = [joined, joining].map(({ client_id }) => grants.filter(({ id }) => id === client_id));
  for (const kept of left) {
    const others = grants.filter(({ kind }) => kind === "user");
    Object.assign(server.folders.get(folder) ?? {}, { grants: [...others, ...kept] });
    await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" });
    for (const grant of kept) grant.encrypted_key = null;
    await alice.client().folders.list();
    t.match(kept, [{ encrypted_key: null }], "nor the present one again");
  }
  t.equal(server.folders.get(folder)?.key_version, 1);
});

await t.test("nor does a new device forget it, whatever folders the service lists to it", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id: folder } = await alice.client().folders.create("production");
  const { client_id: machine } = await newJoinedMachine(alice, server, [folder]);
  await alice.client().folders.list();
  const [application] = await alice.client().applications.list();
  const lists: HistoryServer["lie"][] = [
    (_request, { body }) => body,
    ({ path, method }, { body }) => (path === "/api/org/folders" && method === "GET" ? { data: [] } : body),
  ];
  for (const lie of lists)
    for (const what of ["machines", "applications"] as const) {
      const me = alice.client({ trust: memoryTrust() });
      server.lie = lie;
      server.loses = ({ method }) => method === "DELETE";
      await me[what].remove(application?.id ?? "", machine);
      server.lie = (_request, { body }) => body;
      await t.rejects(me.folders.rotate(folder), { code: "holder_unconfirmed" }, what);
    }
  t.equal(server.folders.get(folder)?.key_version, 1);
});

await t.test("nor does the device in a folder that it learns of later", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const anna = await join("anna@example.com", "admin");
  const { id: folder } = await anna.client().folders.create("staging");
  const { client_id: machine } = await newJoinedMachine(anna, server, [folder]);
  const [application] = await alice.client().applications.list();
  const revoke = async (me: PersonClient): Promise<void> => {
    server.loses = ({ method }) => method === "DELETE";
    await me.machines.remove(application?.id ?? "", machine);
    server.loses = () => false;
  };
  await revoke(alice.client());
  await anna.client().folders.share(folder, { userId: idOf(alice), permission: "manage" });
  await alice.client().folders.accept(folder);
  await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" }, "one that is shared later");
  const fresh = alice.client({ trust: memoryTrust() });
  server.lie = ({ path, method }, { body }) => {
    if (path.includes("keyring")) return new Refusal(404, "not_found");
    return path === "/api/org/folders" && method === "GET" ? { data: [] } : body;
  };
  await revoke(fresh);
  server.lie = (_request, { body }) => body;
  await t.rejects(fresh.folders.rotate(folder), { code: "holder_unconfirmed" }, "one that was hidden");
  server.lie = ({ path, method }, { body }) => {
    if (path.includes("keyring")) return new Refusal(404, "not_found");
    if (method === "DELETE") return new Refusal(403, "access_denied");
    return path === "/api/org/folders" && method === "GET" ? { data: [] } : body;
  };
  const other = alice.client({ trust: memoryTrust() });
  await t.rejects(revoke(other), { code: "access_denied" });
  server.lie = (_request, { body }) => body;
  t.match(await other.folders.rotate(folder), { left_out: [] }, "a refusal takes it back");
});

const ends: Record<string, (me: PersonClient, folder: string, userId: string) => Promise<unknown>> = {
  "folder unshare": (me, folder, userId) => me.folders.unshare(folder, userId),
  "member rm": (me, _folder, userId) => me.members.remove(userId),
};
for (const [name, end] of Object.entries(ends))
  await t.test(`a manager whose access ends by ${name} gives it to no machine meanwhile`, async (t) => {
    const { alice, server, mallory, folder } = await withEnded(t);
    await alice.client().folders.share(folder, { userId: idOf(mallory), permission: "manage" });
    const res = `folder:${folder}` as const;
    const [{ publicKey: key }, token] = [await newKeyPair(), newAccessToken()];
    const machines = [newId(), newId()] as const;
    const [given, joined] = machines;
    const setOf = (id: string): NonNullable<Change["set"]> => [{ who: `client:${id}`, key, perm: "read" }];
    const { wrapKey, tokenHash: tag } = await readAccessToken(token);
    const mine = { tag, wrapKey, kind: "client", perm: "read" } as const;
    /** Mallory names a machine, and another one joins with an invitation of his. */
    const goOn = async (): Promise<void> => {
      await signPastClients(server, mallory, res, { set: setOf(given) });
      const before = server.histories.get(res)?.state ?? null;
      const invitation = await makeInvitation(before, res, mine);
      await signPastClients(server, mallory, res, { invite: [invitation] });
      const held = server.histories.get(res);
      const joinKey = await openInvitation(res, held?.state.invitations.at(-1), wrapKey);
      const join = await sign(held?.state ?? null, res, `invite:${tag}`, joinKey, { set: setOf(joined) });
      server.histories.set(res, { entries: [...(held?.entries ?? []), join.text], state: join.state });
    };
    server.lie = async ({ method }, { body }) => {
      if (method === "DELETE") await goOn();
      return body;
    };
    await end(alice.client(), folder, idOf(mallory));
    const grants = server.folders.get(folder)?.grants ?? [];
    const people = grants.filter(({ kind }) => kind === "user");
    for (const id of machines) {
      const grant = { kind: "client", id, permission: "read", encrypted_key: null, encrypted_key_alg: null } as const;
      Object.assign(server.folders.get(folder) ?? {}, { grants: [...people, grant] });
      await alice.client().folders.list();
      await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" });
      t.equal(grant.encrypted_key, null);
    }
    Object.assign(server.folders.get(folder) ?? {}, { grants: people });
    t.match(await alice.client().folders.rotate(folder), { dropped: { length: 3 } });
  });

await t.test("a refusal takes back only what was ended with it", async (t) => {
  const { alice, server, mallory, folder } = await withEnded(t);
  const other = alice.client();
  await other.folders.share(folder, { userId: idOf(mallory), permission: "write" });
  server.loses = ({ method }) => method === "DELETE";
  await alice.client().folders.unshare(folder, idOf(mallory));
  server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(403, "access_denied") : body);
  await t.rejects(other.folders.unshare(folder, idOf(mallory)), { code: "access_denied" });
  server.lie = (_request, { body }) => body;
  await t.rejects(alice.client().folders.rotate(folder), { code: "holder_unconfirmed" });
});
