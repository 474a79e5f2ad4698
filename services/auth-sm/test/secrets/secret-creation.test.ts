import t from "tap";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner, "production");
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const stranger = await register(service, { orgName: "Elsewhere" });
const foreign = await createFolder(service, stranger, "foreign");
const outsider = await createMachine(service, stranger, [{ folder_id: foreign, permission: "write" }]);
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

await t.test("a created secret is answered by the write representation and read back as it was sent", async (t) => {
  const fields = { password: sealed(), "user name": sealed() };
  const body = secretBody(folder, { title: "database", title_encrypted: sealed(), fields });
  const created = await ask(service, machine, "POST", "/secrets", { body });
  t.equal(created.status, 201);
  t.match(created.body, {
    uid: /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/,
    folder_id: folder,
    record_type: "login",
    created_at: time,
    updated_at: time,
  });
  const read = await ask(service, machine, "GET", `/secrets/${created.body.uid}`);
  t.equal(read.status, 200);
  t.strictSame(read.body, {
    uid: created.body.uid,
    folder_id: folder,
    title_encrypted: body["title_encrypted"],
    data_encrypted: body["encrypted_payload"],
    updated_at: created.body.updated_at,
    wrapped_dek: body["wrapped_dek"],
    record_type: "login",
    title: "database",
    field_names: ["password", "user name"],
    key_version: 1,
    expires_at: null,
    version: 1,
    created_at: created.body.created_at,
  });
});

await t.test("a title that was not given is empty, encrypted or not", async (t) => {
  const uid = await createSecret(service, machine, folder);
  t.match((await ask(service, machine, "GET", `/secrets/${uid}`)).body, { title: "", title_encrypted: "" });
});

await t.test("every record type of the specification is taken, and no other", async (t) => {
  const types = ["login", "card", "note", "identity", "ssh_key", "api_credential", "database", "env_file"];
  for (const record_type of types) {
    const { status } = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { record_type }) });
    t.equal(status, 201, record_type);
  }
  const { status } = await ask(service, machine, "POST", "/secrets", {
    body: secretBody(folder, { record_type: "key" }),
  });
  t.equal(status, 400);
});

await t.test("each of the four required parts of a creation is required", async (t) => {
  for (const missing of ["folder_id", "record_type", "encrypted_payload", "wrapped_dek"]) {
    const answer = await ask(service, machine, "POST", "/secrets", {
      body: secretBody(folder, { [missing]: undefined }),
    });
    t.equal(answer.status, 400, missing);
    t.match(answer.body, { error: "invalid_request", details: [{ field: missing }] });
  }
});

await t.test(
  "a client may choose the uid once in its organization, and another organization may have it too",
  async (t) => {
    const uid = "chosen-by-the-client_1".slice(0, 22);
    t.equal(await createSecret(service, machine, folder, { uid }), uid);
    const again = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { uid }) });
    t.equal(again.status, 400);
    t.match(again.body, { error: "invalid_request" });
    t.equal(await createSecret(service, outsider, foreign, { uid }), uid);
    for (const bad of ["-starts-with-a-hyphen1", "too-short", "twenty-three-characters", "not base64url chars!! "]) {
      const { status } = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { uid: bad }) });
      t.equal(status, 400, bad);
    }
  },
);

await t.test("of two creations of one uid at the same time one is made", async (t) => {
  const body = secretBody(folder, { uid: "aaaaaaaaaaaaaaaaaaaaa1" });
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask(service, machine, "POST", "/secrets", { body })));
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 400, 400, 400]);
});
