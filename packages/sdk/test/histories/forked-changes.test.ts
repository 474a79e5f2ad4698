import { contexts, decodeText, openSealed, unboxBound } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import t from "tap";
import { CofferError, memoryTrust } from "../../src/index.ts";
import { type Company, memberOf, startCompany } from "../server/history-people.ts";
import type { HistoryServer } from "../server/history-server.ts";

// The service forks a history: one branch has a removal that this device has seen, another what the
// person does next.

type Scope = Parameters<typeof startCompany>[0];
type Client = ReturnType<Company["alice"]["client"]>;

/** `done`, or the code of the error. */
const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof CofferError ? error.code : String(error)),
  );

/** Returns what shows a resource and its history as they are now. */
function snapshot(server: HistoryServer, res: Resource): () => void {
  const id = res.slice(res.indexOf(":") + 1);
  const kept = structuredClone([
    server.folders.get(id),
    server.organizations.get(id),
    server.histories.get(res),
  ] as const);
  return () => {
    const [folder, organization, history] = structuredClone(kept);
    if (folder !== undefined) server.folders.set(id, folder);
    if (organization !== undefined) server.organizations.set(id, organization);
    if (history !== undefined) server.histories.set(res, history);
  };
}

/**
 * Before the answer to the first such request, does this, and then shows the resource as the
 * request left it.
 */
function meanwhile(
  server: HistoryServer,
  res: Resource,
  [method, part]: [string, string],
  work: () => Promise<unknown>,
): void {
  server.lie = async (request, { body }) => {
    if (request.method !== method || !request.path.includes(part)) return body;
    server.lie = (_, { body: unchanged }) => unchanged;
    const show = snapshot(server, res);
    await work();
    show();
    return body;
  };
}

/** A folder of Alice with the manager Olga and the reader Eve. */
async function startFolder(t: Scope) {
  const company = await startCompany(t);
  const { alice, server, join } = company;
  const { id } = await alice.client().folders.create("payroll");
  const [olga, eve] = [await join("olga@example.com", "admin"), await join("eve@example.com")];
  await alice.client().folders.share(id, { userId: olga.session.user.id, permission: "manage" });
  await alice.client().folders.share(id, { userId: eve.session.user.id, permission: "read" });
  await olga.client().folders.accept(id);
  for (const { client } of [olga, alice]) await client().folders.list();
  const grant = server.folders.get(id)?.grants.find((one) => one.id === eve.session.user.id);
  const oldKey = await openSealed(eve.privateKey, grant?.encrypted_key ?? "", contexts.sharedFolderKey(id));
  const removeEve = async ({ client }: Company["alice"]): Promise<void> => {
    await client().folders.unshare(id, eve.session.user.id);
    await client().folders.rotate(id);
  };
  return { ...company, id, res: `folder:${id}` as const, olga, eve, oldKey, removeEve };
}

/** What a client sets, Eve cannot open. */
async function refusesOldKey(
  t: { notMatch(text: string, pattern: RegExp): unknown },
  { server, id, oldKey }: Awaited<ReturnType<typeof startFolder>>,
  client: Client,
): Promise<void> {
  const from = server.received.length;
  await outcomeOf(client.secrets.set(`coffer://${id}/database/field/password`, "for present members"));
  for (const { method, path, body } of server.received.slice(from)) {
    if (method !== "POST" || !path.endsWith("/secrets")) continue;
    const sent = JSON.parse(body) as { uid: string; fields: Record<string, string> };
    const field = contexts.field(sent.uid, "password");
    const opened = await unboxBound(oldKey, sent.fields["password"] ?? "", field).then(decodeText, () => "");
    t.notMatch(opened, /for present members/);
  }
}

interface Change {
  what: string;
  request: [string, string];
  make: (client: Client, id: string) => Promise<unknown>;
}

const changes: readonly Change[] = [
  { what: "rename", request: ["PATCH", "/folders/"], make: (client, id) => client.folders.rename(id, "wages") },
  {
    what: "token",
    request: ["POST", "/tokens"],
    make: async (client, id) => {
      const [application] = await client.applications.list();
      const folders = [{ folderId: id, permission: "read" as const }];
      return client.tokens.create({ applicationId: application?.id ?? "", name: "web", folders });
    },
  },
];
for (const { what, request, make } of changes)
  for (const isOne of [true, false])
    await t.test(
      `a ${what} of one's own in a fork does not replace a removal seen by ${isOne ? "this" : "another"} process`,
      async (t) => {
        const company = await startFolder(t);
        const { alice, olga, server, id, res, removeEve } = company;
        const restore = snapshot(server, res);
        await removeEve(olga);
        const showRemoval = snapshot(server, res);
        restore();
        const client = alice.client();
        const other = isOne ? client : alice.client();
        await client.folders.list();
        meanwhile(server, res, request, async () => {
          showRemoval();
          await other.folders.list();
          t.equal((await alice.trust.load()).resources[res]?.state?.ver, 2, "the device has seen the removal");
        });
        t.equal(await outcomeOf(make(client, id)), "history_forked");
        t.equal((await alice.trust.load()).resources[res]?.state?.ver, 2);
        for (const each of [client, alice.client(), alice.client({ trust: memoryTrust() })])
          await refusesOldKey(t, company, each);
      },
    );

await t.test("a removal of one's own in another process is not lost to a rename in a fork", async (t) => {
  const company = await startFolder(t);
  const { alice, server, id, res, removeEve } = company;
  const restore = snapshot(server, res);
  meanwhile(server, res, ["PATCH", "/folders/"], async () => {
    restore();
    await removeEve(alice);
  });
  t.equal(await outcomeOf(alice.client().folders.rename(id, "wages")), "history_forked");
  t.equal((await alice.trust.load()).resources[res]?.state?.ver, 2);
  await refusesOldKey(t, company, alice.client());
});

await t.test("changes of two processes that the service puts one after the other are both kept", async (t) => {
  const { alice, olga, server, id, res } = await startFolder(t);
  server.lie = async ({ method, path }, { body }) => {
    if (method !== "PATCH" || !path.includes(id)) return body;
    server.lie = (_, { body: unchanged }) => unchanged;
    await olga.client().folders.rename(id, "salaries");
    await alice.client().folders.list();
    return body;
  };
  t.equal(await outcomeOf(alice.client().folders.rename(id, "wages")), "done");
  t.match((await alice.trust.load()).resources[res]?.state, { name: "salaries" }, "the later one stays");
});

await t.test("an invitation of one's own in a fork does not bring a removed admin back", async (t) => {
  const { alice, server, join, organizationId } = await startCompany(t);
  const res = `org:${organizationId}` as const;
  const [olga, mallory] = [await join("olga@example.com", "admin"), await join("mallory@example.com", "admin")];
  for (const { client } of [olga, mallory]) await client().members.confirmed();
  const folder = await alice.client().folders.create("payroll");
  const restore = snapshot(server, res);
  await olga.client().members.remove(mallory.session.user.id);
  const showRemoval = snapshot(server, res);
  restore();
  const client = alice.client();
  meanwhile(server, res, ["POST", "/api/org/invites"], async () => {
    showRemoval();
    await client.members.confirmed();
  });
  t.equal(await outcomeOf(client.invites.create("new@example.com", "member")), "history_forked");
  const friend = await memberOf(server, "friend@example.com");
  const { token } = await mallory.client().invites.create("friend@example.com", "member");
  await friend.client().invites.accept(token);
  const share = { userId: friend.session.user.id, permission: "read" as const };
  t.equal(await outcomeOf(alice.client().folders.share(folder.id, share)), "history_forked");
});

await t.test("what two other devices have seen of two branches must both be in the history", async (t) => {
  const { alice, olga, server, id, res, removeEve } = await startFolder(t);
  const me = alice.session.user.id;
  const [tablet, phone] = [{ trust: memoryTrust() }, { trust: memoryTrust() }];
  for (const device of [tablet, phone]) await alice.client(device).folders.list();
  const snapshotAll = (): (() => void) => {
    const show = snapshot(server, res);
    const keyring = structuredClone(server.keyrings.get(me));
    return () => {
      show();
      if (keyring !== undefined) server.keyrings.set(me, structuredClone(keyring));
    };
  };
  const restore = snapshotAll();
  const known = structuredClone(await olga.trust.load());
  // The laptop sees the removal, entry 3, and the tablet a longer branch without it.
  await removeEve(olga);
  await alice.client().folders.list();
  const showLaptops = snapshotAll();
  restore();
  const elsewhere = olga.client({ trust: memoryTrust(known) });
  for (const name of ["wages", "salaries", "payroll"]) await elsewhere.folders.rename(id, name);
  await alice.client(tablet).folders.list();
  await alice.client(tablet).folders.create("another"); // the next version of the keyring
  const showTablets = snapshotAll();
  // A question about a folder that the phone does not know makes it read the keyring.
  for (const show of [showLaptops, showTablets]) {
    show();
    await outcomeOf(alice.client(phone).folders.accept(crypto.randomUUID()));
  }
  t.equal((await phone.trust.load()).resources[res]?.expect?.length, 2);
  const set = alice.client(phone).secrets.set(`coffer://${id}/database/field/password`, "x");
  t.equal(await outcomeOf(set), "history_forked");
});

await t.test("keyring trust keeps the newer state that this device has seen, and returns its name", async (t) => {
  const company = await startFolder(t);
  const { alice, server, id, res, removeEve } = company;
  const restore = snapshot(server, res);
  const keyring = structuredClone(server.keyrings.get(alice.session.user.id));
  await removeEve(alice);
  await alice.client().folders.list();
  restore();
  if (keyring !== undefined) server.keyrings.set(alice.session.user.id, keyring);
  const asked: string[] = [];
  const left = await alice.client().keyring.trust((shown) => {
    asked.push(...shown.map((one) => one.res));
    return Promise.resolve(true);
  });
  t.same(left, [{ res, name: "payroll" }]);
  t.notOk(asked.includes(res), "it is not in the question");
  t.equal((await alice.trust.load()).resources[res]?.state?.ver, 2);
  await refusesOldKey(t, company, alice.client());
  let back: unknown;
  await alice.client().folders.trust(id, ({ goes_back }) => Promise.resolve(((back = goes_back), true)));
  t.same(back, { seen: 3, shown: 2 }, "the question for one history has both numbers");
});

const questions: Record<string, (client: Client, id: string, ask: () => Promise<boolean>) => Promise<unknown>> = {
  "keyring trust": (client, _, ask) => client.keyring.trust(ask),
  "folder trust": (client, id, ask) => client.folders.trust(id, ask),
};
for (const [name, trust] of Object.entries(questions))
  for (const isOne of [true, false])
    await t.test(
      `${name} does not take back a removal that ${isOne ? "this" : "another"} process reads before the answer`,
      async (t) => {
        const company = await startFolder(t);
        const { alice, olga, server, id, res, removeEve } = company;
        const restore = snapshot(server, res);
        const client = alice.client();
        const ask = async (): Promise<boolean> => {
          await removeEve(olga);
          await (isOne ? client : alice.client()).folders.list();
          restore();
          return true;
        };
        t.equal(await outcomeOf(trust(client, id, ask)), "conflict");
        t.equal((await alice.trust.load()).resources[res]?.state?.ver, 2);
        await refusesOldKey(t, company, alice.client());
      },
    );

await t.test("a pin of another device is compared with what another process reads meanwhile", async (t) => {
  const { alice, olga, server, id, res, removeEve } = await startFolder(t);
  const { id: other } = await alice.client().folders.create("other");
  const phone = alice.client({ trust: memoryTrust() });
  await phone.folders.list();
  // The keyring has entry 0 of the other folder, and the laptop entry 1.
  const me = alice.session.user.id;
  const keyring = structuredClone(server.keyrings.get(me)) ?? { version: 0, sealed: "" };
  await alice.client().folders.rename(other, "another");
  server.keyrings.set(me, keyring);
  await alice.trust.change((record) => ({ ...record, keyring: keyring.version, unsaved: false }));
  const restore = snapshot(server, res);
  const known = structuredClone(await olga.trust.load());
  await removeEve(olga);
  await phone.members.confirmed({ folder: id });
  const { id: third } = await phone.folders.create("third");
  server.folders.delete(third);
  restore();
  const elsewhere = olga.client({ trust: memoryTrust(known) });
  for (const name of ["wages", "salaries", "payroll"]) await elsewhere.folders.rename(id, name);
  let isFirst = true;
  server.lie = async ({ method, path }, { body }) => {
    if (method !== "GET" || !path.includes(`${other}/history`) || !isFirst) return body;
    isFirst = false;
    await alice.client().folders.list();
    t.equal((await alice.trust.load()).resources[res]?.state?.head.seq, 5);
    return body;
  };
  t.equal(await outcomeOf(alice.client().folders.accept(crypto.randomUUID())), "history_forked");
});

await t.test("without a choice, a folder of another organization does not take the place of one's own", async (t) => {
  const { alice, server, organizationId } = await startCompany(t);
  const eve = await memberOf(server, "eve@example.com");
  const { id: other } = await eve.client().organizations.create("Elsewhere");
  const { token } = await eve.client().invites.create("alice@example.com", "admin");
  await alice.client().invites.accept(token);
  await alice.client({ organization: organizationId }).folders.create("production");
  const { id: there } = await alice.client({ organization: other }).folders.create("production");
  await alice.client().folders.list();
  let shown: unknown;
  server.lie = ({ path }, { body }) => (path === "/api/org/folders" ? (shown = body) : body);
  await alice.client({ organization: other }).folders.list();
  server.lie = ({ method, path }, { body }) => (method === "GET" && path === "/api/org/folders" ? shown : body);
  const from = server.received.length;
  await outcomeOf(alice.client().secrets.set("coffer://production/database/field/password", "for Example only"));
  const written = server.received.slice(from).filter(({ method, path }) => method === "POST" && path.includes(there));
  t.same(written, []);
});
