import { inspect } from "node:util";
import { box, contexts, decodeBase64Url, encodeText, newKey } from "@coffer/crypto";
import t from "tap";
import { createClient } from "../../src/index.ts";
import type { FolderView } from "../../src/views.ts";
import { bareBox, folderFor, historyAnswer, newFolder, newMachine, newSecret, rotated } from "../server/machine.ts";
import { json, startServer } from "../server/server.ts";

const uri = (title: string, field = "password"): string => `coffer://production/${title}/field/${field}`;

/** A server that lists what it holds under an entity tag, and a machine that asks it. */
async function setUp(t: Parameters<typeof startServer>[0]) {
  const folder = newFolder("production");
  const held = { secrets: [await newSecret(folder, "database", { password: "s3cret", user: "app" })], tag: '"1"' };
  const server = await startServer(t, (request, response) => {
    if (request.headers["if-none-match"] === held.tag) response.writeHead(304, { etag: held.tag }).end();
    else json(response, 200, { data: held.secrets }, { etag: held.tag });
  });
  const machine = await newMachine(server.url, [folder]);
  let time = Date.now();
  const client = createClient(machine, { now: () => time, freshSeconds: 30 });
  return { folder, held, server, machine, client, pass: (seconds: number) => (time += seconds * 1000) };
}

await t.test("many reads at once and after one another are one request", async (t) => {
  const { client, server } = await setUp(t);
  const values = await Promise.all([1, 2, 3].map(() => client.read(uri("database"))));
  t.same(values, ["s3cret", "s3cret", "s3cret"]);
  t.equal(await client.read(uri("database", "user")), "app");
  t.equal((await client.list("production")).length, 1);
  t.equal(server.received.length, 1);
});

await t.test("what is answered has the interface's names, and a folder does not show its key", async (t) => {
  const { client } = await setUp(t);
  const [secret] = await client.list();
  const names =
    "created_at,expired,expires_at,field_names,fields,folder,folder_id,key_version,name,title,type,uid,updated_at,version";
  for (const name of Object.keys(secret ?? {})) t.ok(names.split(",").includes(name), name);
  const folder = newFolder("staging", 3);
  const { url } = await startServer(t, (_request, response) => json(response, 200, { data: [view] }));
  const machine = await newMachine(url, [folder]);
  const view = await folderFor(folder, machine.public_key);
  const [usable] = await createClient(machine).folders();
  t.same(JSON.parse(JSON.stringify(usable)), { id: folder.id, name: "staging", permission: "write", key_version: 3 });
  t.notMatch(inspect(usable, { depth: null }), /Uint8Array|key:/);
  t.same(usable?.key, folder.key, "who asks for it has it");
});

await t.test("a list is served from memory up to its age, and then revalidated by its tag", async (t) => {
  const { client, server, pass } = await setUp(t);
  await client.read(uri("database"));
  pass(29.999);
  await client.read(uri("database"));
  t.equal(server.received.length, 1);
  pass(0.001);
  t.equal(await client.read(uri("database")), "s3cret");
  t.equal(server.received.length, 2);
  t.equal(server.received[1]?.headers["if-none-match"], '"1"');
});

await t.test("a changed list replaces the one that was held", async (t) => {
  const { client, folder, held } = await setUp(t);
  await client.read(uri("database"));
  held.secrets = [await newSecret(folder, "database", { password: "new" })];
  held.tag = '"2"';
  client.expire();
  t.equal(await client.read(uri("database")), "new");
});

await t.test("a secret that expires while its list is held is gone at once, and never from another", async (t) => {
  const { client, folder, held, server, pass } = await setUp(t);
  const [first] = await client.list();
  t.match(first, { expires_at: null, expired: false });
  const moment = new Date(Date.now() + 20_000).toISOString().replace("Z", "000Z");
  const brief = await newSecret(folder, "brief", { password: "soon over" });
  const lasting = await newSecret(folder, "brief", { password: "lasting" });
  held.secrets = [{ ...brief, expires_at: moment }, ...held.secrets];
  held.tag = '"2"';
  client.expire();
  t.match(await client.find("brief"), { expires_at: moment, expired: false });
  t.equal(await client.read(uri("brief")), "soon over");
  const asked = server.received.length;
  pass(25);
  await t.rejects(client.read(uri("brief")), { code: "secret_not_found" });
  await t.rejects(client.find("brief"), { code: "secret_not_found" });
  t.same(
    (await client.list()).map(({ title }) => title),
    ["database"],
  );
  t.equal(server.received.length, asked, "without a request");
  held.secrets = [...held.secrets, lasting];
  held.tag = '"3"';
  client.expire();
  t.equal(await client.read(uri("brief")), "lasting", "the title is that of the one that has not expired");
});

/** A service in which so many uids are taken by expired secrets, which a machine does not see. */
async function withExpired(t: Parameters<typeof startServer>[0], expired: number) {
  const folder = newFolder("production");
  const sent: { uid: string; expires_at?: unknown }[] = [];
  const server = await startServer(t, ({ method, path, body }, response) => {
    if (method === "POST") {
      const { uid = "", expires_at } = JSON.parse(body) as { uid?: string; expires_at?: unknown };
      sent.push({ uid, expires_at });
      const taken = { error: "invalid_request", message: "taken", details: [{ field: "uid", issue: "is taken" }] };
      if (sent.length <= expired) json(response, 400, taken);
      else json(response, 201, { uid, folder_id: folder.id, expires_at: expires_at ?? null });
    } else if (/secrets\/[\w-]+$/.test(path)) json(response, 404, { error: "secret_not_found", message: "none" });
    else json(response, 200, historyAnswer(path) ?? { data: path.endsWith("/folders") ? [view] : [] });
  });
  const machine = await newMachine(server.url, [folder]);
  const view = await folderFor(folder, machine.public_key);
  return { client: createClient(machine), sent };
}

await t.test("a machine makes a secret beside expired ones of its title, with another uid", async (t) => {
  const { client, sent } = await withExpired(t, 2);
  t.match(await client.set(uri("brief"), "new", { expiresAt: "2099-12-31T23:00:00Z" }), { created: true });
  t.equal(new Set(sent.map(({ uid }) => uid)).size, 3);
  t.same(
    sent.map(({ expires_at }) => expires_at),
    new Array(3).fill("2099-12-31T23:00:00Z"),
  );
  const many = await withExpired(t, 1000);
  await t.rejects(many.client.set(uri("brief"), "new"), { code: "invalid_request", message: /11 secrets .* expired/ });
  t.equal(many.sent.length, 11);
});

await t.test("a service that stores no expiry is not taken at its word", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "s3cret" });
  const server = await startServer(t, ({ method, path }, response) => {
    if (method === "PUT") json(response, 200, { uid: secret.uid, folder_id: folder.id, ...stored });
    else json(response, 200, historyAnswer(path) ?? { data: path.endsWith("/folders") ? [view] : [secret] });
  });
  const machine = await newMachine(server.url, [folder]);
  const view = await folderFor(folder, machine.public_key);
  const client = createClient(machine);
  let stored: { expires_at?: string | null } = {};
  const set = (expiresAt?: string | null) => client.set(uri("database"), "new", { expiresAt });
  const moment = "2099-12-31T23:00:00Z";
  await t.rejects(set(moment), { code: "bad_answer" }, "an earlier version");
  t.match(await set(null), { created: false }, "which has none to remove");
  stored = { expires_at: "2099-12-31T23:00:01.000000Z" };
  await t.rejects(set(moment), { code: "bad_answer" });
  await t.rejects(set(null), { code: "bad_answer" });
  t.match(await set(), stored, "an update that keeps it");
  stored = { expires_at: "2099-12-31T23:00:00.000000Z" };
  t.match(await set(moment), stored);
});

await t.test("an expiry is set on what another client has just written", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "new" });
  const sent: { version: string | undefined; expires_at?: unknown }[] = [];
  const server = await startServer(t, ({ method, path, headers, body }, response) => {
    if (method === "PUT") {
      const { expires_at } = JSON.parse(body) as { expires_at?: string };
      sent.push({ version: headers["if-match"], expires_at });
      if (sent.length === 1) json(response, 412, { error: "precondition_failed", message: "changed" });
      else json(response, 200, { uid: secret.uid, folder_id: folder.id, expires_at });
    } else if (path.includes("/secrets/")) json(response, 200, { ...secret, version: sent.length + 1 });
    else json(response, 200, historyAnswer(path) ?? { data: path.endsWith("/folders") ? [view] : [secret] });
  });
  const machine = await newMachine(server.url, [folder]);
  const view = await folderFor(folder, machine.public_key);
  const client = createClient(machine);
  const moment = "2099-12-31T23:00:00Z";
  t.match(await client.setExpiry(secret.uid, moment), { uid: secret.uid, expires_at: moment });
  t.same(sent, [
    { version: '"1"', expires_at: moment },
    { version: '"2"', expires_at: moment },
  ]);
});

await t.test("an answer that fails is not remembered as a list", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "s3cret" });
  const { url } = await startServer(t, (_request, response, count) =>
    count === 1
      ? json(response, 500, { error: "internal_error", message: "no" })
      : json(response, 200, { data: [secret] }),
  );
  const client = createClient(await newMachine(url, [folder]));
  await t.rejects(client.read(uri("database")), { code: "internal_error" });
  t.equal(await client.read(uri("database")), "s3cret");
});

await t.test("the bearer is an ES256 token of five minutes for this service, and is renewed by itself", async (t) => {
  const { client, server, machine, pass } = await setUp(t);
  const bearers = (): string[] => server.received.map(({ headers }) => headers.authorization ?? "");
  await client.list();
  pass(269);
  await client.list();
  t.equal(bearers()[1], bearers()[0], "kept while more than 30 s are left");
  pass(31);
  await client.list();
  t.not(bearers()[2], bearers()[0]);
  const [header, claims] = (bearers()[0] ?? "").replace("Bearer ", "").split(".");
  const parse = (part = ""): unknown => JSON.parse(new TextDecoder().decode(decodeBase64Url(part)));
  t.same(parse(header), { alg: "ES256", typ: "JWT" });
  const { iat, exp, sub, aud } = parse(claims) as Record<string, unknown>;
  t.equal(Number(exp) - Number(iat), 300);
  t.same([sub, aud], [machine.client_id, server.url]);
});

await t.test("for a secret under a newer folder key the client fetches the key once, and opens it", async (t) => {
  const before = newFolder("production", 1);
  let folders: unknown[] = [];
  const secrets: unknown[] = [];
  const { url, received } = await startServer(t, ({ path }, response) =>
    json(response, 200, historyAnswer(path) ?? { data: path.endsWith("/folders") ? folders : secrets }),
  );
  const machine = await newMachine(url, [before]);
  const after = await rotated(before);
  secrets.push(await newSecret(after, "database", { password: "rotated" }));
  folders = [await folderFor(after, machine.public_key)];
  const client = createClient(machine);
  t.equal(await client.read(uri("database")), "rotated");
  t.equal(await client.read(uri("database")), "rotated");
  t.same(
    received.map(({ path }) => path),
    ["/api/sm/v1/secrets", "/api/sm/v1/folders", `/api/sm/v1/folders/${before.id}/history`],
  );
});

await t.test("a folder is named by its name without regard to case, or by its id", async (t) => {
  const { client, folder } = await setUp(t);
  t.equal(await client.read("coffer://PRODUCTION/database/field/password"), "s3cret");
  t.equal(await client.read(`coffer://${folder.id}/database/field/password`), "s3cret");
});

await t.test("a secret is named by its exact title or its uid", async (t) => {
  const { client, held } = await setUp(t);
  t.equal(await client.read(uri(held.secrets[0]?.uid ?? "")), "s3cret");
  await t.rejects(client.read(uri("Database")), { code: "secret_not_found" });
});

await t.test(
  "two secrets of one title are an error that names their uids, by each of which one is found",
  async (t) => {
    const { client, folder, held } = await setUp(t);
    held.secrets.push(await newSecret(folder, "database", { password: "other" }));
    const uids = held.secrets.flatMap(({ uid, title }) => (title === "database" ? [uid] : []));
    const ambiguous = { code: "name_ambiguous", message: new RegExp(`2 secrets.*${uids.join(" or ")}`) };
    await t.rejects(client.read(uri("database")), ambiguous);
    await t.rejects(client.find("database"), ambiguous);
    await t.rejects(client.remove("database"), ambiguous);
    for (const uid of uids) t.match(await client.read(uri(uid)), String);
  },
);

await t.test("the last field takes its secret with it only when no other field came meanwhile", async (t) => {
  const folder = newFolder("production");
  const first = await newSecret(folder, "database", { password: "s3cret" });
  const second = await newSecret(folder, "database", { password: "s3cret", user: "app" });
  const later = { ...second, version: 2 };
  let held = first;
  const changes: unknown[] = [];
  const server = await startServer(t, (request, response) => {
    const { method, headers } = request;
    if (method === "GET") {
      json(response, 200, { data: request.path.includes("/folders") ? [view] : [held] });
      return;
    }
    changes.push([method, headers["if-match"]]);
    const refused = method === "DELETE" && headers["if-match"] === '"1"';
    held = later;
    if (refused) json(response, 412, { error: "precondition_failed", message: "another version" });
    else if (method === "DELETE") response.writeHead(204).end();
    else json(response, 200, { uid: held.uid, folder_id: folder.id, version: 3 });
  });
  const machine = await newMachine(server.url, [folder]);
  const view = await folderFor(folder, machine.public_key);
  t.match(await createClient(machine).remove(uri("database")), { removed: "field" });
  t.same(changes, [
    ["DELETE", '"1"'],
    ["PUT", '"2"'],
  ]);
});

await t.test("a field that is not there is an error that names those that are", async (t) => {
  const { client } = await setUp(t);
  await t.rejects(client.read(uri("database", "port")), { code: "secret_not_found", message: /password, user/ });
  await t.rejects(client.read(uri("database", "constructor")), { code: "secret_not_found" });
});

await t.test("a title that the server attaches to another secret is not believed", async (t) => {
  const { client, folder, held } = await setUp(t);
  const other = await newSecret(folder, "decoy", { password: "attacker's" });
  held.secrets = [{ ...other, title: "database" }];
  await t.rejects(client.read(uri("database")), { code: "secret_not_found" });
});

await t.test("a payload that the server moves to another secret does not open", async (t) => {
  const { client, folder, held } = await setUp(t);
  const other = await newSecret(folder, "decoy", { password: "attacker's" });
  const [first] = held.secrets;
  held.secrets =
    first === undefined ? [] : [{ ...first, data_encrypted: other.data_encrypted, wrapped_dek: other.wrapped_dek }];
  await t.rejects(client.read(uri("database")), { code: "not_decrypted" });
});

await t.test("a secret of a client written from the specification alone opens", async (t) => {
  const { client: strict, folder, held, machine } = await setUp(t);
  const client = createClient(machine, { unsealedTitles: true });
  const dek = newKey();
  const payload = encodeText(JSON.stringify({ name: "bare", fields: { password: "plain" } }));
  const view = { ...(await newSecret(folder, "bare", {})), title: "", title_encrypted: "" };
  const bare = { ...view, data_encrypted: await bareBox(dek, payload) };
  held.secrets = [{ ...bare, wrapped_dek: await box(folder.key, dek, contexts.dek(view.uid)) }];
  t.equal(await client.read(uri("bare")), "plain");
  await t.rejects(strict.read(uri("bare")), { code: "invalid_request", message: /--unsealed-titles/ });
  t.equal(await strict.read(uri(view.uid)), "plain", "its uid names it");
  held.secrets = [{ ...bare, wrapped_dek: await bareBox(folder.key, dek) }];
  held.tag = '"2"';
  client.expire();
  await t.rejects(client.read(uri(view.uid)), { code: "not_decrypted" }, "but its key is always bound to it");
});

await t.test("a secret without a sealed title has its payload's name, whatever the server shows", async (t) => {
  const { folder, held, machine } = await setUp(t);
  const client = createClient(machine, { unsealedTitles: true });
  const staging = { ...(await newSecret(folder, "staging", { password: "tr0jan" })), title_encrypted: "" };
  const nameless = { ...(await newSecret(folder, "", { password: "known" })), title_encrypted: "" };
  held.secrets = [
    { ...staging, title: "database" },
    { ...nameless, title: "by the server" },
  ];
  await t.rejects(client.read(uri("database")), { code: "secret_not_found" });
  t.same(
    (await client.list("production")).map(({ title }) => title),
    ["staging", "by the server"],
  );
  t.equal(await client.read(uri("by the server")), "known");
});

await t.test("where the copies of a title differ, the sealed one counts, and a notation needs the uid", async (t) => {
  const { folder, held, client } = await setUp(t);
  const secret = await newSecret(folder, "inside", { password: "s3cret" });
  const title_encrypted = await box(folder.key, encodeText("sealed"), contexts.title(secret.uid));
  held.secrets = [{ ...secret, title: "shown", title_encrypted }];
  t.match(await client.list("production"), [{ title: "sealed", name: "inside" }]);
  for (const title of ["sealed", "inside", "shown"])
    await t.rejects(client.read(uri(title)), { code: "secret_not_found" }, title);
  t.equal(await client.read(uri(secret.uid)), "s3cret");
});

await t.test("a secret that cannot be opened keeps none of the others from being read", async (t) => {
  const { folder, held, machine } = await setUp(t);
  const foreign = { ...(await newSecret(folder, "", {})), title: "", title_encrypted: "" };
  const notOurs = await bareBox(folder.key, encodeText("not JSON"));
  held.secrets.unshift({ ...foreign, data_encrypted: notOurs, wrapped_dek: notOurs });
  const unreadable: string[] = [];
  const client = createClient(machine, { onUnreadable: (uid) => unreadable.push(uid) });
  t.equal(await client.read(uri("database")), "s3cret");
  t.same(
    (await client.list()).map(({ title }) => title),
    ["database"],
  );
  t.equal((await client.list("production")).length, 1);
  t.same(unreadable, [foreign.uid, foreign.uid]);
  await t.rejects(client.read(uri(foreign.uid)), { code: "not_decrypted" }, "asked for by itself it is an error");
  await t.rejects(client.read(uri("other")), { code: "secret_not_found" });
});

await t.test("a title that the server shows and that cannot be opened is no absence", async (t) => {
  const { client, held } = await setUp(t);
  held.secrets = held.secrets.map((secret) => ({ ...secret, title: "database", title_encrypted: "AAAA" }));
  await t.rejects(client.read(uri("database")), { code: "not_decrypted" });
});

await t.test("a folder without a key is an error of its own", async (t) => {
  const folder = newFolder("production");
  const secret = await newSecret(folder, "database", { password: "s3cret" });
  let listed: FolderView[] = [];
  const { url } = await startServer(t, ({ path }, response) =>
    json(response, 200, { data: path.endsWith("/folders") ? listed : [secret] }),
  );
  const machine = await newMachine(url, [folder]);
  machine.folders = machine.folders.map((one) => ({ ...one, key: null }));
  listed = [{ ...(await folderFor(folder, machine.public_key)), encrypted_key: null, encrypted_key_alg: null }];
  const client = createClient(machine);
  await t.rejects(client.read(uri("database")), { code: "key_pending" });
  t.same(await client.list(), [], "what cannot be opened is left out of a list of all");

  listed = [await folderFor(folder, machine.public_key)];
  t.equal(await createClient(machine).read(uri("database")), "s3cret", "a key that was sealed since is fetched");
});

await t.test("a configuration that is not bootstrapped is refused", async (t) => {
  const machine = await newMachine("http://127.0.0.1:1", []);
  t.throws(() => createClient({ ...machine, application_id: undefined }), { code: "configuration" });
  t.throws(() => createClient("{}"), { code: "configuration", message: /version/ });
  t.throws(() => createClient("not JSON"), { code: "configuration" });
});
