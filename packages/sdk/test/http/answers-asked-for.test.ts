import { box, contexts, newId, newKeyPair } from "@coffer/crypto";
import t from "tap";
import { createClient, type PersonClient, personClient } from "../../src/index.ts";
import { newJoinedMachine, startCompany } from "../server/history-people.ts";
import { folderFor, newFolder, newMachine, newSecret } from "../server/machine.ts";
import { json, startServer } from "../server/server.ts";
import { startVaultServer, type VaultServer } from "../server/vault-server.ts";

// A service that answers with another thing than the one that was asked for, which the caller holds
// the key of as well.

const login = { type: "login", fields: { name: "Example", password: "s3cret" } };
const confirm = (): Promise<boolean> => Promise.resolve(true);

/**
 * Two vaults of one person with a record in each, and a service that `lie` makes answer with
 * another thing.
 */
async function setUp(t: Parameters<typeof startVaultServer>[0]) {
  const server = await startVaultServer(t);
  const honest = personClient(server.session, server.url);
  const asked = await honest.vaults.create("Asked");
  const other = await honest.vaults.create("Other");
  const first = await honest.records.create(asked.id, login);
  const second = await honest.records.create(asked.id, { ...login, fields: { name: "Second" } });
  const elsewhere = await honest.records.create(other.id, login);
  /** Answers requests of this method whose path ends so with what stands at another path of the store. */
  const lie = (method: string, end: string, shown: () => unknown): PersonClient => {
    server.instead.http = (request, response) => {
      if (request.method !== method || !request.path.split("?")[0]?.endsWith(end)) return false;
      json(response, 200, shown());
      return true;
    };
    server.received.length = 0;
    return personClient(server.session, server.url);
  };
  return { server, asked, other, first, second, elsewhere, lie };
}

const sent = ({ received }: VaultServer): string[] =>
  received.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
const wrong = { code: "bad_answer", message: /another object than/ };

await t.test("a record in the place of another, of the same vault or not, is refused", async (t) => {
  const { server, asked, first, second, elsewhere, lie } = await setUp(t);
  for (const { id } of [second, elsewhere]) {
    const me = lie("GET", first.id, () => server.records.get(id));
    await t.rejects(me.records.get(asked.id, first.id), wrong);
    await t.rejects(
      me.records.change(asked.id, first.id, ({ fields }) => ({ fields })),
      wrong,
    );
    await t.rejects(me.records.update(asked.id, first.id, { fields: {} }), wrong, "whose type would be taken");
    t.same(sent(server), []);
  }
});

await t.test("a record that a write did not make is not accepted as its result", async (t) => {
  const { server, asked, first, second, elsewhere, lie } = await setUp(t);
  for (const { id } of [second, elsewhere]) {
    const me = lie("POST", "/records", () => server.records.get(id));
    await t.rejects(me.records.create(asked.id, login), wrong);
    const putting = lie("PUT", first.id, () => server.records.get(id));
    await t.rejects(putting.records.update(asked.id, first.id, login), wrong);
  }
});

await t.test("a list with records of another vault is refused", async (t) => {
  const { server, asked, elsewhere, lie } = await setUp(t);
  const me = lie("GET", "/records", () => ({ data: [server.records.get(elsewhere.id)] }));
  await t.rejects(me.records.list(asked.id), { code: "bad_answer", message: /another vault/ });
});

await t.test("nothing is sealed under the key of a vault that was not requested", async (t) => {
  const { server, asked, other, first, lie } = await setUp(t);
  const me = lie("GET", `/vaults/${asked.id}`, () => server.vaults.get(other.id));
  await t.rejects(me.vaults.get(asked.id), wrong);
  await t.rejects(me.records.create(asked.id, login), wrong);
  await t.rejects(me.records.update(asked.id, first.id, login), wrong);
  await t.rejects(
    me.records.change(asked.id, first.id, () => login),
    wrong,
  );
  await t.rejects(me.records.import(asked.id, [login]), wrong);
  await t.rejects(me.records.stableIds(asked.id, ["a"]), wrong);
  await t.rejects(me.records.list(asked.id), wrong);
  t.same(sent(server), []);
});

await t.test("another vault's key is not sealed to the person that a vault is shared with", async (t) => {
  const { alice, join, server } = await startCompany(t);
  const bob = await join("bob@example.com");
  const me = alice.client();
  const [asked, other] = [
    await me.vaults.create("Asked", { type: "shared" }),
    await me.vaults.create("Other", { type: "shared" }),
  ];
  const request = { userId: bob.session.user.id, permission: "read" } as const;
  const shown = await alice.client().vaults.get(other.id);
  server.received.length = 0;
  server.lie = ({ path }, { body }) => (path.endsWith(`/vaults/${asked.id}`) ? shown : body);
  await t.rejects(alice.client().vaults.share(asked.id, request), wrong);
  t.same(
    server.received.filter(({ method }) => method !== "GET"),
    [],
  );
  server.lie = ({ path }, { body }) => (path.includes("/members/") ? { user_id: newId(), permission: "read" } : body);
  await t.rejects(alice.client().vaults.share(asked.id, request), wrong, "nor is another person's grant believed");
});

await t.test("an answer to a write of a vault must show that vault, under the key that was sent", async (t) => {
  const { server, asked, other, lie } = await setUp(t);
  await t.rejects(lie("POST", "/vaults", () => server.vaults.get(other.id)).vaults.create("New"), wrong);
  const renaming = lie("PATCH", asked.id, () => server.vaults.get(other.id));
  await t.rejects(renaming.vaults.update(asked.id, { name: "New" }), wrong);
  server.instead.http = ({ method, body }, response) => {
    if (method !== "POST") return false;
    const { id } = JSON.parse(body) as { id: string };
    json(response, 201, { ...server.vaults.get(asked.id), id });
    return true;
  };
  await t.rejects(personClient(server.session, server.url).vaults.create("New"), wrong);
});

await t.test("ids are the same in either case, as they are to the service", async (t) => {
  const { asked, first, server } = await setUp(t);
  server.instead.http = (request, response) => {
    if (!request.path.includes(first.id.toUpperCase())) return false;
    json(response, 200, server.records.get(first.id));
    return true;
  };
  const me = personClient(server.session, server.url);
  t.match(await me.records.get(asked.id, first.id.toUpperCase()), first);
});

await t.test("a secret in the place of another is refused, for machines", async (t) => {
  const folder = newFolder("production");
  const asked = await newSecret(folder, "asked", { password: "one" });
  const other = await newSecret(folder, "other", { password: "two" });
  let shown = other;
  const { url, received } = await startServer(t, ({ method, path }, response) => {
    if (method === "GET" && /secrets(\?|$)/.test(path)) json(response, 200, { data: [asked] });
    else json(response, 200, shown);
  });
  const machine = createClient(await newMachine(url, [folder]));
  await t.rejects(machine.get(asked.uid), wrong);
  await t.rejects(machine.remove(asked.uid), wrong);
  await t.rejects(machine.set("coffer://production/new/field/password", "s"), wrong, "made");
  await t.rejects(machine.set("coffer://production/asked/field/password", "s"), wrong, "changed");
  shown = asked;
  t.match(await machine.get(asked.uid), { fields: { password: "one" } });
  t.notOk(received.some(({ method }) => method === "DELETE"));
});

await t.test("a secret in the place of another is refused, for people", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  const asked = await alice.client().secrets.set("coffer://production/asked/field/password", "one");
  const other = await alice.client().secrets.set("coffer://production/other/field/password", "two");
  const [first, second] = server.folders.get(id)?.secrets ?? [];
  const me = alice.client().secrets;
  for (const lie of [second, { ...first, folder_id: newId() }]) {
    server.lie = ({ method, path }, { body }) => {
      const isList = method === "GET" && /secrets(\?|$)/.test(path);
      return path.includes("/secrets") && !isList ? lie : body;
    };
    await t.rejects(me.get(asked.uid), wrong);
    await t.rejects(me.remove(asked.uid), wrong);
    await t.rejects(me.set("coffer://production/new/field/password", "s"), wrong, "made");
    await t.rejects(me.set("coffer://production/asked/field/password", "s"), wrong, "changed");
  }
  t.notOk(server.received.some(({ method }) => method === "DELETE"));
  t.not(asked.uid, other.uid);
});

await t.test("a folder that the service shows under another folder's name is not shared or written", async (t) => {
  const { alice, server, join } = await startCompany(t);
  await alice.client().folders.create("staging");
  const { session } = await join("bob@example.com");
  const asked = newId();
  server.lie = ({ path, method }, { body }) => {
    if (path !== "/api/org/folders" || method !== "GET") return body;
    return { data: (body as { data: object[] }).data.map((one) => ({ ...one, name: "production" })) };
  };
  const me = alice.client();
  await t.rejects(me.folders.share(asked, { userId: session.user.id, permission: "read" }), { code: "no_history" });
  await t.rejects(me.secrets.set("coffer://production/database/field/password", "s"), { code: "not_found" });
  t.same(
    (await me.folders.list()).map(({ name }) => name),
    ["staging"],
  );
  await me.folders.create(asked);
  await t.rejects(me.folders.find(asked), { code: "not_found" }, "nor by a name that is the id of another folder");
});

await t.test("a notation's answer is of the folder and the secret that were named", async (t) => {
  const [folder, elsewhere] = [newFolder("Bürö"), newFolder("staging")];
  const titleLikeUid = "production-database-01";
  const asked = await newSecret(folder, "database", { password: "one" });
  const other = await newSecret(folder, "mail", { password: "two" });
  const like = await newSecret(folder, titleLikeUid, { password: "three" });
  const foreign = await newSecret(elsewhere, "database", { password: "four" });
  const folders = [folder, elsewhere];
  let shown = asked;
  let called: { title?: string; folder?: string } = {};
  const { url, received } = await startServer(t, ({ method, path }, response) => {
    if (path.endsWith("/folders")) {
      void Promise.all(folders.map(listed)).then((data) => json(response, 200, { data }));
      return;
    }
    if (method === "GET") {
      json(response, 200, { ...shown, ...called });
      return;
    }
    const home = shown === foreign ? elsewhere : folder;
    void sealedField(home, shown.uid).then((value_encrypted) =>
      json(response, 200, {
        uid: shown.uid,
        folder: home.name,
        folder_id: home.id,
        title: shown.title,
        title_encrypted: shown.title_encrypted,
        field: "password",
        value_encrypted,
        key_version: 1,
        updated_at: shown.updated_at,
        ...called,
      }),
    );
  });
  const machine = await newMachine(url, folders);
  const listed = (one: typeof folder) => folderFor(one, machine.public_key);
  const sealedField = (home: typeof folder, uid: string): Promise<string> =>
    box(home.key, new TextEncoder().encode(`value of ${uid}`), contexts.field(uid, "password"));
  const resolve = (inFolder: string, title: string) =>
    createClient(machine).resolve(`coffer://${inFolder}/${title}/field/password`);
  const refused = { code: "bad_answer", message: /another (folder|secret) than/ };

  for (const name of ["Bürö", "BU\u0308RO\u0308", folder.id, folder.id.toUpperCase()])
    for (const title of ["database", asked.uid])
      t.match(await resolve(name, title), { uid: asked.uid, value: `value of ${asked.uid}` }, `${name} ${title}`);
  t.equal(received.filter(({ method }) => method === "GET").length, 0, "with one request each");

  shown = foreign;
  for (const name of ["Bürö", folder.id])
    for (const claim of ["Bürö", "staging"]) {
      called = { folder: claim };
      await t.rejects(resolve(name, "database"), refused, `${name}, in a folder called ${claim}`);
    }
  shown = other;
  for (const claim of ["mail", asked.uid]) {
    called = { title: claim };
    await t.rejects(resolve(folder.id, asked.uid), refused, `another uid, titled ${claim}`);
  }
  called = {};
  await t.rejects(resolve(folder.id, "database"), refused, "another title");

  shown = like;
  t.match(await resolve("Bürö", titleLikeUid), { uid: like.uid }, "a title that could be a uid, sealed as such");
  for (const lie of [other, foreign]) {
    shown = lie;
    called = { title: titleLikeUid };
    await t.rejects(resolve("Bürö", titleLikeUid), refused);
  }
});

await t.test("a folder is shared only with the named machine, under the key of its join", async (t) => {
  const { alice, server } = await startCompany(t);
  const [{ id: first }, { id: second }] = [
    await alice.client().folders.create("production"),
    await alice.client().folders.create("staging"),
  ];
  const machine = await newJoinedMachine(alice, server, [first]);
  const { machines } = alice.client();
  const request = { clientId: machine.client_id, folderId: second, permission: "read" } as const;
  const puts = () => server.received.filter(({ method, path }) => method === "PUT" && path.includes("/clients/"));
  const application = newId();
  await t.rejects(machines.share(application, { ...request, clientId: newId() }), { code: "not_found" });
  const { publicKey } = await newKeyPair();
  server.lie = ({ path }, { body }) => {
    if (!path.endsWith("/clients")) return body;
    return { data: (body as { data: object[] }).data.map((one) => ({ ...one, public_key: publicKey })) };
  };
  await t.rejects(machines.share(application, request, confirm), { code: "holder_unconfirmed" });
  t.same(puts(), []);
  server.lie = (_request, { body }) => body;
  t.match(await machines.share(application, request), { permission: "read" });
  t.match(JSON.parse(puts()[0]?.body ?? ""), { permission: "read", key_version: 1, encrypted_key: /^ey/ });
  for (const other of [{ client_id: newId() }, { folder_id: newId() }, { permission: "write" }]) {
    server.lie = ({ method, path }, { body }) =>
      method === "PUT" && path.includes("/clients/") ? { ...(body as object), ...other } : body;
    await t.rejects(machines.share(application, { ...request, permission: "read" }), wrong);
  }
});

await t.test("a key is sent with its version, also with what it is made for", async (t) => {
  const { alice, server: company } = await startCompany(t);
  company.received.length = 0;
  await alice.client().folders.create("production");
  const { server } = await setUp(t);
  server.received.length = 0;
  await personClient(server.session, server.url).vaults.create("Team");
  const made = [...company.received, ...server.received].filter(({ method }) => method === "POST");
  for (const { body } of made) t.match(JSON.parse(body), { encrypted_key: String, key_version: 1 });
  t.equal(made.length, 2);
});

await t.test("a folder or vault without a name, or a list of something else, is a bad answer", async (t) => {
  const { alice, server: company } = await startCompany(t);
  const folder = await alice.client().folders.create("production");
  const { server, asked, lie } = await setUp(t);
  const machine = await newJoinedMachine(alice, company, [folder.id]);
  for (const change of [{ name: undefined }, { name: null }, { name: 7 }]) {
    company.lie = ({ path }, { body }) =>
      path.endsWith("/folders")
        ? { data: (body as { data: object[] }).data.map((one) => ({ ...one, ...change })) }
        : body;
    await t.rejects(alice.client().folders.find("production"), { code: "bad_answer" });
    await t.rejects(createClient(machine, { fetch }).folders(), { code: "bad_answer" });
    const me = lie("GET", "/api/vaults", () => ({ data: [{ ...server.vaults.get(asked.id), ...change }] }));
    await t.rejects(me.vaults.find("Asked"), { code: "bad_answer" });
  }
  for (const item of [null, 7, true]) {
    const me = lie("GET", "/api/vaults", () => ({ data: [item] }));
    await t.rejects(me.vaults.list(), { code: "bad_answer" });
  }
});

await t.test("a renamed folder has the name that was signed", async (t) => {
  const { alice, server } = await startCompany(t);
  const { id } = await alice.client().folders.create("production");
  server.lie = ({ method }, { body }) => (method === "PATCH" ? { ...(body as object), name: "another" } : body);
  t.match(await alice.client().folders.rename(id, "renamed"), { id, name: "renamed" });
});
