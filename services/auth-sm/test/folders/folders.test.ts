import t from "tap";
import { call } from "../support/call.ts";
import { createFolder, createMachine, createSecret } from "../support/machines.ts";
import { execute, join, share, startCompany } from "../support/members.ts";
import { type Person, register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);
const base = "/api/org/folders";

let count = 0;
const newName = (): string => `folder ${(count += 1)}`;
const create = ({ token }: Person, body: object) => call(service, "POST", base, { token, body });
const list = async ({ token }: Person) => (await call(service, "GET", base, { token })).body.data;
const newFolder = (person: Person = owner): Promise<string> => createFolder(service, person, newName());
const rename = ({ token }: Person, id: string, name: unknown) =>
  call(service, "PATCH", `${base}/${id}`, { token, body: { name } });
const remove = ({ token }: Person, id: string, query = "") =>
  call(service, "DELETE", `${base}/${id}${query}`, { token });
const holders = ({ token }: Person, id: string) => call(service, "GET", `${base}/${id}/members`, { token });

await t.test("a new folder is answered as in the list, with its maker's key", async (t) => {
  const id = "0196f3a0-0000-7000-8000-00000000abcd";
  const body = { id, name: newName(), encrypted_key: sealed(), key_version: 1 };
  const answer = await create(owner, body);
  t.equal(answer.status, 201);
  const { created_at, updated_at, ...rest } = answer.body;
  t.strictSame(rest, {
    id,
    name: body.name,
    permission: "manage",
    key_version: 1,
    encrypted_key: body.encrypted_key,
    encrypted_key_alg: "box-user",
    history_seq: null,
  } as typeof rest);
  t.match({ created_at, updated_at }, { created_at: /\.\d{6}Z$/, updated_at: created_at });
  t.strictSame(
    (await list(owner)).find((folder) => folder.id === id),
    answer.body,
  );
  const record = await service.observer.record("the creation", ({ target }) => target.id === id);
  t.match(record, {
    org_id: orgId,
    action: "folder.created",
    outcome: "success",
    actor: { type: "user", id: owner.userId, session_id: owner.sessionId },
    target: { type: "folder", id, parent_id: orgId },
    request: { method: "POST", route: base, status: 201 },
  });
});

await t.test("only an owner or an admin creates folders", async (t) => {
  t.equal((await create(admin, { name: newName(), encrypted_key: sealed() })).status, 201);
  for (const person of [auditor, member, suspended]) {
    const answer = await create(person, { name: newName(), encrypted_key: sealed() });
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "access_denied");
  }
});

await t.test("missing or malformed fields are 400", async (t) => {
  const good = { name: newName(), encrypted_key: sealed() };
  const wrong = [
    { name: undefined },
    { name: "" },
    { name: "n".repeat(129) },
    { name: "tab\tbed" },
    { encrypted_key: undefined },
    { encrypted_key: "" },
    { encrypted_key: "AAA" },
    { encrypted_key: "a.b.c.d.e" },
    { id: "x" },
    { key_version: 0 },
    { key_version: "1" },
  ];
  for (const change of wrong) {
    const answer = await create(owner, { ...good, ...change });
    t.equal(answer.status, 400, JSON.stringify(change));
  }
  t.equal((await create(owner, { ...good, name: "m".repeat(128), encrypted_key: sealed(3 * 1024) })).status, 201);
  t.equal((await create(owner, { ...good, encrypted_key: sealed(3 * 1024 + 1) })).status, 413);
});

await t.test("a key sealed with another version than the present one is 409 and nothing is stored", async (t) => {
  const body = { name: newName(), encrypted_key: sealed() };
  const answer = await create(owner, { ...body, key_version: 2 });
  t.equal(answer.status, 409);
  t.equal((await create(owner, { ...body, key_version: 1 })).status, 201);
});

await t.test("a name is unique in its organization without regard to case, an id everywhere", async (t) => {
  const id = await createFolder(service, owner, "Straße");
  for (const name of ["Straße", "STRAßE", "straße"]) {
    const answer = await create(owner, { name, encrypted_key: sealed() });
    t.equal(answer.status, 409, name);
    t.equal(answer.body.error, "conflict");
  }
  for (const [name, same] of [
    ["ΟΔΟΣ", "οδος"],
    ["H\u0331", "\u1e96"],
  ] as const) {
    t.equal((await create(owner, { name, encrypted_key: sealed() })).status, 201, name);
    t.equal((await create(owner, { name: same, encrypted_key: sealed() })).status, 409, same);
  }
  t.equal((await create(stranger, { name: "Straße", encrypted_key: sealed() })).status, 201, "elsewhere");
  for (const person of [owner, stranger]) {
    t.equal((await create(person, { id, name: newName(), encrypted_key: sealed() })).status, 409, "a taken id");
  }
});

await t.test("20 folders of one name at once are one folder", async (t) => {
  const name = newName();
  const attempts = Array.from({ length: 20 }, () => create(owner, { name, encrypted_key: sealed() }));
  const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
  t.strictSame(statuses, [201, ...Array<number>(19).fill(409)]);
});

await t.test("owners and admins see every folder, a member the shared ones, an auditor no keys", async (t) => {
  const [shared, unshared] = [await newFolder(), await newFolder()];
  for (const person of [member, auditor]) await share(service, shared, person, "read");
  const seen = async (person: Person, id: string) => (await list(person)).find((folder) => folder.id === id);
  const nothing = { permission: null, encrypted_key: null, encrypted_key_alg: null };
  t.match(await seen(member, shared), { permission: "read", encrypted_key_alg: "jwe", encrypted_key: String });
  t.equal(await seen(member, unshared), undefined);
  t.match(await seen(admin, unshared), { ...nothing, key_version: 1 });
  t.match(await seen(auditor, unshared), nothing);
  t.match(await seen(auditor, shared), nothing, "whatever was granted before");
  t.equal(await seen(stranger, shared), undefined);
});

await t.test("managers of the organization or the folder rename a folder", async (t) => {
  const id = await newFolder();
  for (const person of [owner, admin]) {
    const name = newName();
    const answer = await rename(person, id, name);
    t.equal(answer.status, 200);
    t.match(answer.body, { id, name, permission: person === owner ? "manage" : null });
    t.ok(answer.body.updated_at > answer.body.created_at);
  }
  t.equal((await rename(member, id, newName())).status, 403, "no grant");
  await share(service, id, member, "write");
  t.equal((await rename(member, id, newName())).status, 403, "write");
  await share(service, id, member, "manage");
  t.equal((await rename(member, id, newName())).status, 200, "manage");
  await share(service, id, auditor, "manage");
  t.equal((await rename(auditor, id, newName())).status, 403, "an auditor manages nothing");
});

await t.test("a rename to a taken name is 409, to the same name in another case is not", async (t) => {
  const [first, second] = [await createFolder(service, owner, "Taken"), await newFolder()];
  t.equal((await rename(owner, second, "TAKEN")).status, 409);
  t.equal((await rename(owner, first, "tAKEN")).body.name, "tAKEN");
  for (const name of [undefined, "", "n".repeat(129)]) t.equal((await rename(owner, first, name)).status, 400);
});

await t.test("another organization's folder does not exist, nor does an id of another shape", async (t) => {
  const foreign = await newFolder(stranger);
  for (const id of [foreign, "00000000-0000-7000-8000-000000000000", "x", "%00", "..%2F"]) {
    for (const answer of [await rename(owner, id, "x"), await remove(owner, id), await holders(owner, id)]) {
      t.equal(answer.status, 404, id);
      t.equal(answer.body.error, "not_found");
    }
  }
  t.equal((await holders(stranger, foreign)).status, 200, "it is still there");
});

await t.test("an empty folder is deleted, one with secrets only by force", async (t) => {
  const [empty, full] = [await newFolder(), await newFolder()];
  const machine = await createMachine(service, owner, [{ folder_id: full, permission: "write" }]);
  const uid = await createSecret(service, machine, full);
  t.equal((await remove(owner, empty)).status, 204);
  t.equal((await remove(owner, empty)).status, 404);
  for (const query of ["", "?force=false"]) {
    const answer = await remove(owner, full, query);
    t.equal(answer.status, 409, query);
    t.equal(answer.body.error, "conflict");
    t.match(answer.body.message, "the folder holds a secret: delete it first");
  }
  await createSecret(service, machine, full);
  t.match((await remove(owner, full)).body.message, "the folder holds 2 secrets: delete them first");
  for (const query of ["?force=1", "?force=", "?force=TRUE"]) t.equal((await remove(owner, full, query)).status, 400);
  t.equal((await remove(owner, full, "?force=true")).status, 204);
  const rows = await execute(service, "SELECT FROM auth_sm.secrets WHERE uid = $1", [uid]);
  t.equal(rows.length, 0, "nothing of the secret is left");
  const record = await service.observer.record(
    "the deletion",
    (one) => one.action === "folder.deleted" && one.target.id === full && one.outcome === "success",
  );
  t.match(record, { count: 2, changes: { name: String } });
});

await t.test("managers of the organization or the folder delete a folder", async (t) => {
  const [first, second] = [await newFolder(), await newFolder()];
  await share(service, first, member, "write");
  await share(service, first, auditor, "manage");
  for (const person of [member, auditor, suspended]) t.equal((await remove(person, first)).status, 403);
  t.equal((await remove(stranger, first)).status, 404);
  t.equal((await remove(admin, first)).status, 204);
  await share(service, second, member, "manage");
  t.equal((await remove(member, second)).status, 204);
});

await t.test("the holders of a folder are the people and machines that have its key", async (t) => {
  const id = await newFolder();
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "read" }]);
  const gone = await createMachine(service, owner, [{ folder_id: id, permission: "read" }]);
  const applicationOf = `/api/org/applications/${gone.applicationId}/clients/${gone.clientId}`;
  await call(service, "DELETE", applicationOf, { token: owner.token });
  await share(service, id, member, "read");
  const { status, body } = await holders(owner, id);
  t.equal(status, 200);
  t.strictSame(
    body.data.map(({ id, permission, ...rest }) => [(rest as { kind?: string }).kind, id, permission]),
    [
      ...[
        ["user", owner.userId, "manage"],
        ["user", member.userId, "read"],
      ].sort(([, a = ""], [, b = ""]) => (nameOf(a) < nameOf(b) ? -1 : 1)),
      ["client", machine.clientId, "read"],
    ],
  );
  t.strictSame(Object.keys(body.data[0] ?? {}).sort(), ["has_key", "id", "kind", "name", "permission", "public_key"]);
  for (const person of [admin, auditor, member]) t.equal((await holders(person, id)).status, 200);
  const other = await newFolder();
  t.equal((await holders(member, other)).status, 403, "a member who holds no grant");
  t.equal((await holders(stranger, id)).status, 404);
  t.equal((await holders(suspended, id)).status, 403);
});

function nameOf(userId: string): string {
  return userId === owner.userId ? owner.email : member.email;
}

await t.test(
  "a member who was suspended, or lost the organization, acts no more, from the next request on",
  async (t) => {
    const id = await newFolder();
    const leaver = await register(service);
    await join(service, orgId, leaver, "admin");
    t.equal((await rename(leaver, id, newName())).status, 200);
    await join(service, orgId, leaver, "admin", "suspended");
    t.equal((await rename(leaver, id, newName())).status, 403);
    await execute(service, "DELETE FROM auth_sm.memberships WHERE user_id = $1", [leaver.userId]);
    t.equal((await rename(leaver, id, newName())).status, 404);
  },
);
