import { newId } from "@coffer/crypto";
import t from "tap";
import { createClient, type PersonClient } from "../../src/index.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { type Company, type Member, newJoinedMachine, startCompany } from "../server/history-people.ts";
import { Refusal } from "../server/refusal.ts";

// The service shows a removed folder or vault again, in the place of another one with its name.

const idOf = ({ session }: Member): string => session.user.id;
const secret = "coffer://production/database/field/password";

/** What a folder and a vault have in common for these tests. */
interface Kind {
  create(me: PersonClient): Promise<{ id: string }>;
  remove(me: PersonClient, id: string): Promise<void>;
  /** Uses the one with the name; returns its id. */
  use(me: PersonClient): Promise<string>;
  share(me: PersonClient, id: string, member: Member): Promise<unknown>;
  accept(me: PersonClient, id: string): Promise<unknown>;
  isList(path: string): boolean;
}

const kinds: Record<"folder" | "vault", Kind> = {
  folder: {
    create: ({ folders }) => folders.create("production"),
    remove: ({ folders }, id) => folders.remove(id, { force: true }),
    async use({ secrets, folders }) {
      await secrets.set(secret, "s3cret");
      return (await folders.find("production")).id;
    },
    share: ({ folders }, id, member) => folders.share(id, { userId: idOf(member), permission: "manage" }),
    accept: ({ folders }, id) => folders.accept(id),
    isList: (path) => path === "/api/org/folders",
  },
  vault: {
    create: ({ vaults }) => vaults.create("production", { type: "shared" }),
    remove: ({ vaults }, id) => vaults.remove(id),
    async use({ records, vaults }) {
      const { id } = await vaults.find("production");
      await records.create(id, { type: "login", fields: { password: "s3cret" } });
      return id;
    },
    share: ({ vaults }, id, member) => vaults.share(id, { userId: idOf(member), permission: "manage" }),
    accept: ({ vaults }, id) => vaults.accept(id),
    isList: (path) => path.startsWith("/api/vaults?"),
  },
};

/** The service lists all but these. */
function hide({ server }: Company, ...ids: string[]): void {
  server.lie = ({ method, path }, { body }) => {
    if (method !== "GET" || !Object.values(kinds).some(({ isList }) => isList(path))) return body;
    const { data, ...page } = body as { data: { id: string }[] };
    return { ...page, data: data.filter(({ id }) => !ids.includes(id)) };
  };
}

/** Requests that could have written into a folder or vault. */
function written({ server }: Company, id: string): string[] {
  const writes = server.received.filter(({ method }) => method === "POST" || method === "PUT");
  return writes.map(({ path }) => path).filter((path) => path.includes(id) && /\/(secrets|records)/.test(path));
}

for (const [noun, kind] of Object.entries(kinds)) {
  await t.test(`a ${noun} that the person has removed does not take the place of the new one`, async (t) => {
    const company = await startCompany(t);
    const { alice, server } = company;
    const { id: old } = await kind.create(alice.client());
    t.equal(await kind.use(alice.client()), old);
    server.loses = ({ method }) => method === "DELETE";
    await kind.remove(alice.client(), old);
    const accept = (): Promise<boolean> => Promise.resolve(true);
    await t.rejects(kind.use(alice.client({ accept })), { code: "not_accepted", message: /you have removed/ });
    const { id } = await kind.create(alice.client());
    t.equal(await kind.use(alice.client()), id, "the service shows both");
    server.received.length = 0;
    hide(company, id);
    await t.rejects(kind.use(alice.client({ accept })), { code: "not_accepted", message: /you have removed/ });
    await alice.client().keyring.trust(() => Promise.resolve(true));
    await t.rejects(kind.use(alice.client()), { code: "not_accepted" }, "also after the keyring was trusted");
    t.strictSame(written(company, old), []);
    hide(company);
    t.equal(await kind.use(alice.client()), id);
    await kind.accept(alice.client(), old);
    await t.rejects(kind.use(alice.client()), { code: "name_ambiguous" });
    hide(company, id);
    t.equal(await kind.use(alice.client()), old, "it was accepted again after the new one");
    hide(company, old);
    await t.rejects(kind.use(alice.client()), { code: "name_ambiguous" });
  });

  await t.test(`nor a ${noun} that another manager has removed, whichever is hidden`, async (t) => {
    const company = await startCompany(t);
    const { alice, server } = company;
    const bob = await company.join("bob@example.com");
    const share = async (): Promise<string> => {
      const { id } = await kind.create(bob.client());
      await kind.share(bob.client(), id, alice);
      await kind.accept(alice.client(), id);
      return id;
    };
    const old = await share();
    const other = memoryTrust();
    await alice.client({ trust: other }).folders.list();
    t.equal(await kind.use(alice.client({ trust: other })), old);
    server.loses = ({ method }) => method === "DELETE";
    await kind.remove(bob.client(), old);
    hide(company, old);
    const id = await share();
    t.equal(await kind.use(alice.client()), id);
    hide(company, id);
    await t.rejects(kind.use(alice.client()), { code: "name_ambiguous" });
    hide(company, old);
    await t.rejects(kind.use(alice.client({ trust: other })), {
      code: "name_ambiguous",
      message: new RegExp(`name one by its id, ${id} or ${old}. \`coffer ${noun} accept ${id}\` takes the name`),
    });
    await kind.accept(alice.client({ trust: other }), id);
    t.equal(await kind.use(alice.client({ trust: other })), id);
  });

  await t.test(`a ${noun} with the name of one that others have removed is made again`, async (t) => {
    const company = await startCompany(t);
    const { alice } = company;
    const { id: old } = await kind.create(alice.client());
    hide(company, old);
    const { id } = await kind.create(alice.client());
    t.equal(await kind.use(alice.client()), id);
    hide(company, id);
    await t.rejects(kind.use(alice.client()), { code: "name_ambiguous" });
  });

  await t.test(`the name is of the ${noun} that was accepted last, also when the service hides it`, async (t) => {
    const company = await startCompany(t);
    const { alice, join, server } = company;
    const [anna, bob] = [await join("anna@example.com"), await join("bob@example.com")];
    const { id: first } = await kind.create(anna.client());
    const { id: last } = await kind.create(bob.client());
    await kind.share(anna.client(), first, alice);
    await kind.share(bob.client(), last, alice);
    for (const id of [last, first, last]) await kind.accept(alice.client(), id);
    hide(company, last);
    await t.rejects(kind.use(alice.client()), { code: "name_ambiguous" });
    t.same(written(company, first), []);
    server.lie = (_request, { body }) => body;
  });

  await t.test(`a removal of a ${noun} that the service refuses is taken back`, async (t) => {
    const company = await startCompany(t);
    const { alice, server } = company;
    const { id } = await kind.create(alice.client());
    t.equal(await kind.use(alice.client()), id);
    server.loses = ({ method }) => method === "DELETE";
    server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(403, "access_denied") : body);
    await t.rejects(kind.remove(alice.client(), id), { code: "access_denied" });
    t.equal(await kind.use(alice.client()), id);
    server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(503, "unavailable") : body);
    await t.rejects(kind.remove(alice.client(), id), { code: "unavailable" });
    const isRemoved = {
      code: "not_accepted",
      message: new RegExp(`coffer ${noun} accept ${id}.*coffer ${noun} rm ${id}`),
    };
    await t.rejects(kind.use(alice.client()), isRemoved);
    server.lie = ({ method }, { body }) => (method === "DELETE" ? new Refusal(409, "conflict") : body);
    await t.rejects(kind.remove(alice.client(), id), { code: "conflict" });
    server.lie = (_request, { body }) => body;
    await t.rejects(kind.use(alice.client()), isRemoved, "a second refusal does not take back the first removal");
    server.loses = () => false;
    await kind.remove(alice.client(), id);
  });
}

await t.test("the person's other devices learn of a removed folder from the keyring", async (t) => {
  const company = await startCompany(t);
  const { alice, server } = company;
  const { id: old } = await alice.client().folders.create("production");
  const other = memoryTrust();
  await alice.client({ trust: other }).secrets.set(secret, "s3cret");
  server.loses = ({ method }) => method === "DELETE";
  await alice.client().folders.remove(old, { force: true });
  hide(company, old);
  const { id } = await alice.client().folders.create("production");
  const running = alice.client({ trust: other });
  await running.secrets.set(secret, "s3cret");
  t.equal((await running.folders.find("production")).id, id, "an honest new folder takes the name");
  hide(company, id);
  server.received.length = 0;
  for (const trust of [other, memoryTrust()])
    await t.rejects(alice.client({ trust }).secrets.set(secret, "s3cret"), { code: "not_accepted" });
  t.strictSame(written(company, old), []);
});

await t.test("a device that has not learned of the removal does not undo it", async (t) => {
  const company = await startCompany(t);
  const { alice, server } = company;
  const { id: old } = await alice.client().folders.create("production");
  const other = memoryTrust();
  await alice.client({ trust: other }).folders.list();
  server.loses = ({ method }) => method === "DELETE";
  const before = server.keyrings.get(idOf(alice));
  // The other device has changes of its own, and has not read the keyring.
  await other.change((record) => ({ ...record, unsaved: true }));
  await alice.client().folders.remove(old, { force: true });
  t.not(server.keyrings.get(idOf(alice))?.version, before?.version);
  await alice.client({ trust: other }).folders.create("staging");
  await t.rejects(alice.client().secrets.set(secret, "s3cret"), { code: "not_accepted", message: /you have removed/ });
  await alice.client().folders.create("testing");
  await alice.client({ trust: other }).folders.create("demo");
  await t.rejects(alice.client({ trust: other }).secrets.set(secret, "s3cret"), { code: "not_accepted" });
});

await t.test("a folder of a machine that took a name keeps it from the earlier one", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id: old } = await alice.client().folders.create("production");
  await alice.client().secrets.set(secret, "old");
  const machine = await newJoinedMachine(alice, server, [old]);
  const trust = memoryTrust(machine.histories);
  const read = async (): Promise<string> => {
    const client = createClient(machine, { trust });
    await client.folders();
    return client.read(secret);
  };
  t.equal(await read(), "old");
  const removed = structuredClone(server.folders.get(old));
  await alice.client().folders.remove(old, { force: true });
  const { id } = await alice.client().folders.create("production");
  await alice.client().secrets.set(secret, "new");
  const grant = { clientId: machine.client_id, folderId: id, permission: "read" as const };
  await alice.client().machines.share(newId(), grant, () => Promise.resolve(true));
  t.equal(await read(), "new");
  const made = server.folders.get(id);
  server.folders.delete(id);
  if (removed !== undefined) server.folders.set(old, removed);
  await t.rejects(read(), { code: "name_ambiguous", message: new RegExp(`coffer folder trust ${old} --config`) });
  if (made !== undefined) server.folders.set(id, made);
  server.folders.delete(old);
  t.equal(await read(), "new");
});
