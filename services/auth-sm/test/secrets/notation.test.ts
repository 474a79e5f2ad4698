import t from "tap";
import { ask, createFolder, createMachine, createSecret } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });
const folder = await createFolder(service, owner, "Prod & Stage/EU");
const hidden = await createFolder(service, owner, "hidden");
const foreign = await createFolder(service, stranger, "foreign");
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const writer = await createMachine(service, owner, [{ folder_id: hidden, permission: "write" }]);
const outsider = await createMachine(service, stranger, [{ folder_id: foreign, permission: "write" }]);

const value = sealed();
const uid = await createSecret(service, machine, folder, { title: "data/base 100%", fields: { "pass word": value } });
const untitled = await createSecret(service, machine, folder, { fields: { key: sealed() } });
await createSecret(service, writer, hidden, { title: "database", fields: { password: sealed() } });
await createSecret(service, outsider, foreign, { title: "database", fields: { password: sealed() } });

const encoded = {
  folder: encodeURIComponent("Prod & Stage/EU"),
  title: encodeURIComponent("data/base 100%"),
  field: encodeURIComponent("pass word"),
};
const resolve = (notation: unknown) => ask(service, machine, "POST", "/notation", { body: { notation } });

await t.test("folder, title and field name a value, each part percent-encoded", async (t) => {
  const answer = await resolve(`coffer://${encoded.folder}/${encoded.title}/field/${encoded.field}`);
  t.equal(answer.status, 200);
  const { updated_at, wrapped_dek, ...rest } = answer.body;
  t.match(updated_at, /Z$/);
  t.type(wrapped_dek, "string");
  t.strictSame(rest, {
    uid,
    folder: "Prod & Stage/EU",
    title: "data/base 100%",
    field: "pass word",
    title_encrypted: "",
    value_encrypted: value,
    folder_id: folder,
    secret_uid: uid,
    key_version: 1,
  });
  const record = await service.observer.record("the resolution", ({ action }) => action === "secret.notation.resolved");
  t.match(record, { outcome: "success", target: { id: uid, parent_id: folder }, actor: { id: machine.clientId } });
});

await t.test("a folder may be named by its id, and a secret by its uid", async (t) => {
  const byId = await resolve(`coffer://${folder}/${encoded.title}/field/${encoded.field}`);
  t.match(byId.body, { uid, value_encrypted: value });
  t.match((await resolve(`coffer://${folder}/${untitled}/field/key`)).body, { uid: untitled, title: "" });
});

await t.test("what may be an id is never a folder's name, and a uid goes before a title", async (t) => {
  const impostor = await createFolder(service, owner, folder.toUpperCase());
  const absent = "019a9e05-3333-7333-8333-333333333333";
  const nameless = await createFolder(service, owner, absent);
  const both = await createMachine(
    service,
    owner,
    [folder, impostor, nameless].map((folder_id) => ({ folder_id, permission: "write" as const })),
  );
  for (const folderId of [impostor, nameless]) {
    await createSecret(service, both, folderId, { title: "data/base 100%", fields: { "pass word": sealed() } });
  }
  const named = (part: string) =>
    ask(service, both, "POST", "/notation", {
      body: { notation: `coffer://${part}/${encoded.title}/field/${encoded.field}` },
    });
  for (const spelling of [folder, folder.toUpperCase()])
    t.match((await named(spelling)).body, { uid, folder_id: folder });
  t.equal((await named(absent)).status, 404, "nor when no folder has the id");
  const titled = await createSecret(service, both, folder, { title: uid, fields: { "pass word": sealed() } });
  const byUid = await resolve(`coffer://${folder}/${uid}/field/${encoded.field}`);
  t.match(byUid.body, { uid, value_encrypted: value }, "the secret of that uid, not the one of that title");
  t.equal((await ask(service, both, "DELETE", `/secrets/${titled}`)).status, 204);
});

await t.test("a folder's name is found without regard to case, a title only as it is written", async (t) => {
  const name = encodeURIComponent("PROD & stage/eu");
  t.equal((await resolve(`coffer://${name}/${encoded.title}/field/${encoded.field}`)).status, 200);
  const title = encodeURIComponent("DATA/base 100%");
  t.equal((await resolve(`coffer://${encoded.folder}/${title}/field/${encoded.field}`)).status, 404);
});

await t.test("two secrets of one title are 400, and the answer says how many there are", async (t) => {
  await createSecret(service, machine, folder, { title: "twice", fields: { a: sealed() } });
  const second = await createSecret(service, machine, folder, { title: "twice", fields: { a: sealed() } });
  const answer = await resolve(`coffer://${encoded.folder}/twice/field/a`);
  t.equal(answer.status, 400);
  t.match(answer.body, { error: "invalid_request", message: /^2 secrets/ });
  t.equal((await resolve(`coffer://${encoded.folder}/${second}/field/a`)).status, 200, "its uid is not ambiguous");
});

await t.test("what nothing matches is 404", async (t) => {
  const paths = ["nowhere/database/field/password", `${encoded.folder}/nothing/field/a`, `${folder}/${uid}/field/none`];
  for (const path of [...paths, `${foreign}/database/field/password`, "foreign/database/field/password"]) {
    const answer = await resolve(`coffer://${path}`);
    t.equal(answer.status, 404, path);
    t.match(answer.body, { error: "secret_not_found" });
  }
});

await t.test("a folder that was not granted is 403, whether the secret exists or not", async (t) => {
  for (const title of ["database", "nothing"]) {
    const answer = await resolve(`coffer://hidden/${title}/field/password`);
    t.equal(answer.status, 403);
    t.match(answer.body, { error: "access_denied" });
  }
});

await t.test("another scheme or shape, an empty part or a malformed escape is 400", async (t) => {
  const bad: unknown[] = [
    "",
    "coffer://",
    "coffer:/a/b/field/c",
    "vault://a/b/field/c",
    "COFFER://a/b/field/c",
    "coffer://a/b/c",
    "coffer://a/b/fields/c",
    "coffer://a/b/field",
    "coffer://a/b/field/",
    "coffer:///b/field/c",
    "coffer://a//field/c",
    "coffer://a/b/field/c/d",
    "coffer://a/b/field/c/",
    "coffer://a/b/field/%zz",
    "coffer://a/b/field/%ff",
    "coffer://a/b/field/%00",
    " coffer://a/b/field/c",
    undefined,
    null,
    7,
    ["coffer://a/b/field/c"],
  ];
  for (const notation of bad) {
    const answer = await resolve(notation);
    t.equal(answer.status, 400, String(notation).slice(0, 60));
    t.match(answer.body, { error: "invalid_request" });
  }
});

await t.test("the longest names fit, however much of them is escaped", async (t) => {
  const key = "\u{1f511}"; // four bytes, twelve characters when escaped
  const [folderName, title, field] = [key.repeat(128), key.repeat(256), key.repeat(128)];
  const long = await createFolder(service, owner, folderName);
  const reader = await createMachine(service, owner, [{ folder_id: long, permission: "write" }]);
  await createSecret(service, reader, long, { title, fields: { [field]: value } });
  const notation = `coffer://${encodeURIComponent(folderName)}/${encodeURIComponent(title)}/field/${encodeURIComponent(field)}`;
  const answer = await ask(service, reader, "POST", "/notation", { body: { notation } });
  t.equal(answer.status, 200);
  t.match(answer.body, { folder: folderName, title, field, value_encrypted: value });
});

await t.test("a notation has at most 8,192 characters", async (t) => {
  const sized = (length: number): string => "coffer://x/".padEnd(length - "/field/x".length, "x") + "/field/x";
  t.equal((await resolve(sized(8192))).status, 404);
  const over = await resolve(sized(8193));
  t.equal(over.status, 400);
  t.match(over.body, { error: "invalid_request", details: [{ field: "notation" }] });
});
