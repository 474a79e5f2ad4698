import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "./support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "./support/machines.ts";
import { register, sealed } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });
const folder = await createFolder(service, owner, "production");
const readable = await createFolder(service, owner, "readable");
const hidden = await createFolder(service, owner, "hidden");
const foreign = await createFolder(service, stranger, "foreign");
const machine = await createMachine(service, owner, [
  { folder_id: folder, permission: "write" },
  { folder_id: readable, permission: "read" },
]);
const writer = await createMachine(service, owner, [
  { folder_id: readable, permission: "write" },
  { folder_id: hidden, permission: "write" },
]);
const outsider = await createMachine(service, stranger, [{ folder_id: foreign, permission: "write" }]);
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

const elsewhere = {
  readable: await createSecret(service, writer, readable, { fields: { password: sealed() } }),
  hidden: await createSecret(service, writer, hidden, { fields: { password: sealed() } }),
  foreign: await createSecret(service, outsider, foreign, { fields: { password: sealed() } }),
};

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

await t.test("an update replaces the content, keeps the titles and clears fields that are not sent", async (t) => {
  const made = secretBody(folder, { title: "kept", title_encrypted: sealed(), fields: { password: sealed() } });
  const { body: before } = await ask(service, machine, "POST", "/secrets", { body: made });
  const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  const answer = await ask(service, machine, "PUT", `/secrets/${before.uid}`, { body: update });
  t.equal(answer.status, 200);
  t.match(answer.body, {
    uid: before.uid,
    folder_id: folder,
    record_type: "login",
    created_at: before.created_at,
    version: 2,
  });
  t.ok(answer.body.updated_at > before.updated_at, "updated_at has grown");
  const { body: after } = await ask(service, machine, "GET", `/secrets/${before.uid}`);
  t.match(after, {
    title: "kept",
    title_encrypted: made["title_encrypted"],
    data_encrypted: update.encrypted_payload,
    wrapped_dek: update.wrapped_dek,
    field_names: [],
  });
  t.equal((await ask(service, machine, "GET", `/secrets/${before.uid}/fields/password`)).status, 404);
});

await t.test("an update may replace titles and fields", async (t) => {
  const uid = await createSecret(service, machine, folder, { title: "old", fields: { a: sealed() } });
  const body = {
    encrypted_payload: sealed(),
    wrapped_dek: sealed(),
    title: "new",
    title_encrypted: sealed(),
    fields: { b: sealed() },
  };
  t.equal((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).status, 200);
  const read = await ask(service, machine, "GET", `/secrets/${uid}`);
  t.match(read.body, { title: "new", title_encrypted: body.title_encrypted, field_names: ["b"] });
});

await t.test("an update needs the payload and the wrapped key", async (t) => {
  const uid = await createSecret(service, machine, folder);
  for (const body of [{ encrypted_payload: sealed() }, { wrapped_dek: sealed() }, {}]) {
    t.equal((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).status, 400);
  }
});

await t.test("If-Match writes only over the version that it names", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const put = (tag: string) =>
    ask(service, machine, "PUT", `/secrets/${uid}`, {
      body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
      headers: { "if-match": tag },
    });
  t.equal((await put('"1"')).status, 200);
  const stale = await put('"1"');
  t.equal(stale.status, 412);
  t.match(stale.body, { error: "precondition_failed" });
  const { headers } = await ask(service, machine, "GET", `/secrets/${uid}`);
  t.equal((await put(headers.get("etag") ?? "")).status, 200, "the entity tag of a read");
  t.equal((await put("*")).status, 200, "whatever is there");
});

await t.test("of ten writers with one If-Match at the same time one writes", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      ask(service, machine, "PUT", `/secrets/${uid}`, { body, headers: { "if-match": '"1"' } }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal(answers.filter(({ status }) => status === 412).length, 9);
});

await t.test("what was sealed with another key version is a conflict, and nothing is stored", async (t) => {
  const refused = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { key_version: 2 }) });
  t.equal(refused.status, 409);
  t.match(refused.body, { error: "conflict" });
  const uid = await createSecret(service, machine, folder, { key_version: 1 });
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed(), key_version: 2 };
  t.equal((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).status, 409);
  t.match((await ask(service, machine, "GET", `/secrets/${uid}`)).body, { version: 1, key_version: 1 });
});

await t.test("a deleted secret is gone for good, and its uid is free again", async (t) => {
  const uid = await createSecret(service, machine, folder, { fields: { password: sealed() } });
  const { headers } = await ask(service, machine, "GET", `/secrets/${uid}`);
  const answer = await ask(service, machine, "DELETE", `/secrets/${uid}`);
  t.equal(answer.status, 204);
  t.equal(answer.headers.get("content-type"), null, "no body");
  for (const path of [`/secrets/${uid}`, `/secrets/${uid}/fields/password`]) {
    const gone = await ask(service, machine, "GET", path);
    t.equal(gone.status, 404);
    t.match(gone.body, { error: "secret_not_found" });
  }
  t.equal((await ask(service, machine, "DELETE", `/secrets/${uid}`)).status, 404);
  await createSecret(service, machine, folder, { uid });
  const fresh = await ask(service, machine, "GET", `/secrets/${uid}`, {
    headers: { "if-none-match": headers.get("etag") ?? "" },
  });
  t.equal(fresh.status, 200, "the tag of the deleted one does not match the new one");
});

await t.test("one field is answered without the rest", async (t) => {
  const value = sealed();
  const uid = await createSecret(service, machine, folder, { fields: { "pass/word": value, other: sealed() } });
  const answer = await ask(service, machine, "GET", `/secrets/${uid}/fields/pass%2Fword`);
  t.equal(answer.status, 200);
  const { updated_at, wrapped_dek, ...rest } = answer.body;
  t.match(updated_at, time);
  t.type(wrapped_dek, "string");
  t.strictSame(rest, {
    uid,
    field: "pass/word",
    value_encrypted: value,
    folder_id: folder,
    secret_uid: uid,
    key_version: 1,
  });
  const missing = await ask(service, machine, "GET", `/secrets/${uid}/fields/missing`);
  t.equal(missing.status, 404);
  t.match(missing.body, { error: "secret_not_found" });
});

await t.test("a field is found by whatever name it may have, and by no other", async (t) => {
  const longest = "\u{1f511}".repeat(128);
  const uid = await createSecret(service, machine, folder, { fields: { [longest]: sealed() } });
  const read = (field: string) => ask(service, machine, "GET", `/secrets/${uid}/fields/${field}`);
  t.match((await read(encodeURIComponent(longest))).body, { field: longest });
  for (const field of ["%00", "password%00", "%0A", encodeURIComponent(`${longest}a`)]) {
    const answer = await read(field);
    t.equal(answer.status, 404, field.slice(0, 20));
    t.match(answer.body, { error: "secret_not_found" });
  }
});

await t.test(
  "read and write below a folder follow its grant, and another organization's secrets do not exist",
  async (t) => {
    const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };
    const expected = {
      readable: { GET: 200, field: 200, PUT: 403, DELETE: 403 },
      hidden: { GET: 403, field: 403, PUT: 403, DELETE: 403 },
      foreign: { GET: 404, field: 404, PUT: 404, DELETE: 404 },
    };
    for (const [where, statuses] of Object.entries(expected)) {
      const uid = elsewhere[where as keyof typeof elsewhere];
      const seen = {
        GET: (await ask(service, machine, "GET", `/secrets/${uid}`)).status,
        field: (await ask(service, machine, "GET", `/secrets/${uid}/fields/password`)).status,
        PUT: (await ask(service, machine, "PUT", `/secrets/${uid}`, { body: update })).status,
        DELETE: (await ask(service, machine, "DELETE", `/secrets/${uid}`)).status,
      };
      t.strictSame(seen, statuses, where);
    }
    const denied = await ask(service, machine, "GET", `/secrets/${elsewhere.hidden}`);
    t.match(denied.body, { error: "access_denied" });
  },
);

await t.test(
  "a secret is made only in a folder with write permission: everything else is 403, existing or not",
  async (t) => {
    for (const folderId of [readable, hidden, foreign, randomUUID()]) {
      const answer = await ask(service, machine, "POST", "/secrets", { body: secretBody(folderId) });
      t.equal(answer.status, 403);
      t.match(answer.body, { error: "access_denied" });
    }
  },
);

await t.test("a uid of the wrong form names nothing", async (t) => {
  for (const uid of ["short", "%2e%2e", "a".repeat(200), "%00", "-aaaaaaaaaaaaaaaaaaaaa"]) {
    const answer = await ask(service, machine, "GET", `/secrets/${uid}`);
    t.equal(answer.status, 404, uid);
    t.match(answer.body, { error: "secret_not_found" });
  }
});

await t.test("an unchanged secret is 304 without a body, and without an audit record", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const first = await ask(service, machine, "GET", `/secrets/${uid}`);
  const etag = first.headers.get("etag") ?? "";
  const again = await ask(service, machine, "GET", `/secrets/${uid}`, { headers: { "if-none-match": etag } });
  t.equal(again.status, 304);
  t.equal(again.headers.get("content-type"), null, "no body");
  t.equal(again.headers.get("etag"), etag);
  await ask(service, machine, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  t.equal((await ask(service, machine, "GET", `/secrets/${uid}`, { headers: { "if-none-match": etag } })).status, 200);
  const reads = () =>
    service.observer.records.filter(({ action, target }) => action === "secret.read" && target.id === uid);
  await service.observer.record("the second read", () => reads().length >= 2);
  t.equal(reads().length, 2);
});

await t.test("every action of a machine is on record with who, what and from where", async (t) => {
  const uid = await createSecret(service, machine, folder, { fields: { password: sealed() } });
  await ask(service, machine, "GET", `/secrets/${uid}`, {
    headers: { "user-agent": "a test", "x-request-id": "read-1" },
  });
  await ask(service, machine, "GET", `/secrets/${uid}/fields/password`);
  await ask(service, machine, "PUT", `/secrets/${uid}`, {
    body: { encrypted_payload: sealed(), wrapped_dek: sealed() },
  });
  await ask(service, machine, "DELETE", `/secrets/${uid}`);
  for (const action of ["secret.created", "secret.read", "secret.field.read", "secret.updated", "secret.deleted"]) {
    const record = await service.observer.record(action, (each) => each.action === action && each.target.id === uid);
    t.match(record, {
      outcome: "success",
      actor: { type: "client", id: machine.clientId, application_id: machine.applicationId },
      target: { type: "secret", parent_id: folder },
      source: { ip: "127.0.0.1" },
    });
  }
  const read = await service.observer.record("the read", ({ request }) => request.id === "read-1");
  t.match(read, {
    source: { user_agent: "a test" },
    request: { method: "GET", route: "/api/sm/v1/secrets/{uid}", status: 200 },
  });
});

await t.test("a denial and a failure are on record as the attempted action", async (t) => {
  await ask(service, machine, "DELETE", `/secrets/${elsewhere.hidden}`);
  const denied = await service.observer.record("the denial", ({ action, target }) => {
    return action === "secret.deleted" && target.id === elsewhere.hidden;
  });
  t.match(denied, {
    outcome: "denied",
    reason: "access_denied",
    actor: { id: machine.clientId },
    request: { status: 403 },
  });
  const uid = "nobodyhasthissecretuid";
  await ask(service, machine, "GET", `/secrets/${uid}`);
  const failed = await service.observer.record("the failure", ({ target }) => target.id === uid);
  t.match(failed, { action: "secret.read", outcome: "failure", reason: "secret_not_found", request: { status: 404 } });
});

await t.test("a person's token is no machine's", async (t) => {
  const answer = await call(service, "GET", "/api/sm/v1/secrets", { token: owner.token });
  t.equal(answer.status, 401);
  t.match(answer.body, { error: "invalid_token" });
});

await t.test("updated_at grows with every update, also when the clock stands still", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  service.clock.stop();
  const times: string[] = [];
  for (let n = 0; n < 3; n += 1)
    times.push((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).body.updated_at);
  t.strictSame([...new Set(times)].sort(), times);
});
