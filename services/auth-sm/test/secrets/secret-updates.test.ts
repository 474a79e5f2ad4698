import t from "tap";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner, "production");
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);

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

await t.test("If-Match deletes only the version that it names", async (t) => {
  const remove = (uid: string, tag: string) =>
    ask(service, machine, "DELETE", `/secrets/${uid}`, { headers: { "if-match": tag } });
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  const uid = await createSecret(service, machine, folder);
  const { headers } = await ask(service, machine, "GET", `/secrets/${uid}`);
  const old = headers.get("etag") ?? "";
  t.equal((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).status, 200);
  for (const stale of ['"1"', old, 'W/"2"', '""']) {
    t.match(await remove(uid, stale), { status: 412, body: { error: "precondition_failed" } }, stale);
  }
  t.equal((await remove(uid, '"1", "2"')).status, 400);
  const read = await ask(service, machine, "GET", `/secrets/${uid}`);
  t.match(read, { status: 200, body: { version: 2, data_encrypted: body.encrypted_payload } }, "it is still there");
  t.equal((await remove(uid, read.headers.get("etag") ?? "")).status, 204, "the entity tag of a read");
  t.equal((await remove(uid, '"2"')).status, 404);
  for (const tag of ['"1"', "*"])
    t.equal((await remove(await createSecret(service, machine, folder), tag)).status, 204);
  const refused = (each: { action: string; target: { id: string | null } }) =>
    each.action === "secret.deleted" && each.target.id === uid;
  const record = await service.observer.record("the refusal", refused);
  t.match(record, { outcome: "failure", request: { status: 412 } });
});

await t.test("of a deletion and an update with one If-Match at the same time one is done", async (t) => {
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  const headers = { "if-match": '"1"' };
  for (let round = 0; round < 10; round += 1) {
    const uid = await createSecret(service, machine, folder);
    const path = `/secrets/${uid}`;
    const requests = [
      () => ask(service, machine, "DELETE", path, { headers }),
      () => ask(service, machine, "PUT", path, { body, headers }),
    ];
    if (round % 2 === 1) requests.reverse();
    const answers = await Promise.all(requests.map((request) => request()));
    const statuses = answers.map(({ status }) => status);
    const [removed, updated] = round % 2 === 1 ? statuses.reverse() : statuses;
    t.ok(removed === 204 ? updated === 404 : removed === 412 && updated === 200, `${removed} and ${updated}`);
    t.equal((await ask(service, machine, "GET", path)).status, removed === 204 ? 404 : 200);
  }
});

await t.test("a secret sealed with another key version is a conflict, and is not stored", async (t) => {
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

await t.test("updated_at grows with every update, also when the clock does not advance", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const body = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  service.clock.stop();
  const times: string[] = [];
  for (let n = 0; n < 3; n += 1)
    times.push((await ask(service, machine, "PUT", `/secrets/${uid}`, { body })).body.updated_at);
  t.strictSame([...new Set(times)].sort(), times);
});
