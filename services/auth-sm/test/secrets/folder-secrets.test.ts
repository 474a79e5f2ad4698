import { randomUUID } from "node:crypto";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { execute, share } from "../support/members.ts";
import { type Person, register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const stranger = await register(service, { orgName: "Elsewhere" });
const { body: org } = await call(service, "GET", "/api/org", { token: owner.token });
const folder = await createFolder(service, owner);
const other = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const at = (path = "", folderId = folder): string => `/api/org/folders/${folderId}/secrets${path}`;
const as =
  (person: Person) =>
  (method: string, path: string, options: object = {}) =>
    call(service, method, path, { token: person.token, ...options });

/** A member of the organization with this role, inserted into the table: joining has its own tests. */
async function member(role: string): Promise<Person> {
  const person = await register(service);
  const client = new pg.Client({ connectionString: service.postgres.url });
  await client.connect();
  await client.query(
    `INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at) VALUES ($1, $2, $3, 'active', now())`,
    [org.id, person.userId, role],
  );
  await client.end();
  return person;
}

await t.test("a person makes, reads, changes and deletes a secret below a folder", async (t) => {
  const { folder_id, ...body } = secretBody(folder, { title: "database", fields: { password: sealed() } });
  const made = await as(owner)("POST", at(), { body });
  t.equal(made.status, 201);
  t.match(made.body, { folder_id: folder, record_type: "login", version: 1 });
  const { uid } = made.body;
  const read = await as(owner)("GET", at(`/${uid}`));
  t.match(read.body, { uid, title: "database", data_encrypted: body["encrypted_payload"], field_names: ["password"] });
  const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  t.match((await as(owner)("PUT", at(`/${uid}`), { body: update })).body, { uid, version: 2 });
  t.equal((await as(owner)("PUT", at(`/${uid}`), { body: update, headers: { "if-match": '"1"' } })).status, 412);
  t.equal((await as(owner)("DELETE", at(`/${uid}`), { headers: { "if-match": '"1"' } })).status, 412);
  t.match((await as(owner)("GET", at())).body, { data: [{ uid, version: 2 }] });
  t.equal((await as(owner)("DELETE", at(`/${uid}`), { headers: { "if-match": '"2"' } })).status, 204);
  t.equal((await as(owner)("GET", at(`/${uid}`))).status, 404);
  for (const action of ["secret.created", "secret.read", "secret.updated", "secret.deleted"]) {
    const record = await service.observer.record(action, (each) => each.action === action && each.target.id === uid);
    t.match(record, { actor: { type: "user", id: owner.userId, session_id: owner.sessionId }, org_id: org.id });
  }
});

await t.test("the sealed single fields come with fields=true, and never to an auditor", async (t) => {
  const fields = { password: sealed(), "user name": sealed() };
  const { folder_id, ...body } = secretBody(folder, { fields });
  const { uid } = (await as(owner)("POST", at(), { body })).body;
  const read = await as(owner)("GET", at(`/${uid}?fields=true`));
  t.strictSame([read.status, read.body.fields], [200, fields]);
  for (const query of ["", "?fields=false"])
    t.notOk("fields" in (await as(owner)("GET", at(`/${uid}${query}`))).body, query);
  t.equal((await as(owner)("GET", at(`/${uid}?fields=yes`))).status, 400);
  const bare = await createSecret(service, machine, folder);
  t.strictSame((await as(owner)("GET", at(`/${bare}?fields=true`))).body.fields, {});
  const audited = await as(await member("auditor"))("GET", at(`/${uid}?fields=true`));
  t.equal(audited.status, 200);
  t.notOk("fields" in audited.body || "wrapped_dek" in audited.body);
});

await t.test("what a person stores a machine reads, and the other way round", async (t) => {
  const { folder_id, ...body } = secretBody(folder);
  const made = await as(owner)("POST", at(), { body });
  t.equal((await ask(service, machine, "GET", `/secrets/${made.body.uid}`)).status, 200);
  const uid = await createSecret(service, machine, folder);
  t.equal((await as(owner)("GET", at(`/${uid}`))).status, 200);
});

await t.test("a folder_id in the body does not move the secret elsewhere", async (t) => {
  const made = await as(owner)("POST", at(), { body: secretBody(other) });
  t.equal(made.body.folder_id, folder);
});

await t.test("a secret is found below its own folder only", async (t) => {
  const uid = await createSecret(service, machine, folder);
  for (const method of ["GET", "PUT", "DELETE"]) {
    const body = method === "PUT" ? { encrypted_payload: sealed(), wrapped_dek: sealed() } : undefined;
    const answer = await as(owner)(method, at(`/${uid}`, other), { body });
    t.equal(answer.status, 404, method);
    t.match(answer.body, { error: "not_found" });
  }
});

await t.test(
  "without a grant a member of the organization is 403, whatever the role; outside it the folder does not exist",
  async (t) => {
    const uid = await createSecret(service, machine, folder);
    const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };
    const { folder_id, ...creation } = secretBody(folder);
    const attempts: [string, string, object | undefined][] = [
      ["GET", at(), undefined],
      ["POST", at(), creation],
      ["GET", at(`/${uid}`), undefined],
      ["PUT", at(`/${uid}`), update],
      ["DELETE", at(`/${uid}`), undefined],
    ];
    for (const role of ["admin", "member"]) {
      const person = await member(role);
      for (const [method, path, body] of attempts) {
        const answer = await as(person)(method, path, { body });
        t.equal(answer.status, 403, `${role}: ${method}`);
        t.match(answer.body, { error: "access_denied" });
      }
    }
    for (const [method, path, body] of attempts) {
      t.equal((await as(stranger)(method, path, { body })).status, 404, `a stranger: ${method}`);
      t.equal(
        (await as(owner)(method, path.replace(folder, randomUUID()), { body })).status,
        404,
        `no folder: ${method}`,
      );
      t.equal((await call(service, method, path, { body })).status, 401, `nobody: ${method}`);
    }
  },
);

await t.test("an auditor sees what there is, and no ciphertext", async (t) => {
  const auditor = await member("auditor");
  const uid = await createSecret(service, machine, folder, { title: "seen" });
  const list = await as(auditor)("GET", at());
  t.equal(list.status, 200);
  t.ok(list.body.data.some((secret) => secret.uid === uid));
  const one = await as(auditor)("GET", at(`/${uid}`));
  t.match(one.body, { uid, title: "seen" });
  t.notMatch(JSON.stringify([list.body, one.body]), /title_encrypted|data_encrypted|wrapped_dek/);
  const { folder_id, ...body } = secretBody(folder);
  t.equal((await as(auditor)("POST", at(), { body })).status, 403);
  t.equal((await as(auditor)("DELETE", at(`/${uid}`))).status, 403);
});

await t.test("a denial is on record", async (t) => {
  const person = await member("member");
  const uid = await createSecret(service, machine, folder);
  await as(person)("GET", at(`/${uid}`), { headers: { "x-request-id": "denied-1" } });
  const record = await service.observer.record("the denial", ({ request }) => request.id === "denied-1");
  t.match(record, {
    action: "secret.read",
    outcome: "denied",
    org_id: org.id,
    actor: { type: "user", id: person.userId },
    target: { type: "secret", id: uid, parent_id: folder },
  });
});

await t.test("lists have pages, filters and tags as those of machines", async (t) => {
  const { body } = await as(owner)("GET", at("?limit=1"));
  t.equal(body.data.length, 1);
  const next = await as(owner)("GET", at(`?limit=1000&cursor=${body.next_cursor}`));
  t.equal(next.body.next_cursor, null);
  t.equal((await as(owner)("GET", at("?limit=0"))).status, 400);
  const { headers } = await as(owner)("GET", at());
  t.equal((await as(owner)("GET", at(), { headers: { "if-none-match": headers.get("etag") ?? "" } })).status, 304);
});

await t.test("a tag that was given without ciphertext is another one with it", async (t) => {
  const person = await member("auditor");
  const uid = await createSecret(service, machine, folder);
  const tags = new Map<string, string>();
  for (const path of [at(), at("?limit=1000"), at(`/${uid}`)]) {
    tags.set(path, (await as(person)("GET", path)).headers.get("etag") ?? "");
  }
  const again = (path: string) =>
    as(person)("GET", path, { headers: { "if-none-match": tags.get(path) ?? "" } }).then(({ status }) => status);
  for (const path of tags.keys()) t.equal(await again(path), 304, path);
  await execute(service, "UPDATE auth_sm.memberships SET role = 'member' WHERE user_id = $1", [person.userId]);
  await share(service, folder, person, "read");
  for (const path of tags.keys()) t.equal(await again(path), 200, path);
});
