import { randomUUID } from "node:crypto";
import { folderHolders } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createApplication, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { execute, join, share, startCompany } from "../support/members.ts";
import type { FolderNews } from "../support/observer.ts";
import { type Person, register } from "../support/people.ts";
import { jwe, rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// The folder events that sync receives.

const service = await startAuthSm(t);
const { observer } = service;
const company = await startCompany(service);
const { owner, orgId } = company;
const as = (person: Person, method: string, path: string, body?: object) =>
  call(service, method, path, { token: person.token, body });
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** What has been told of these folders since `start`, once a change that comes after everything else has. */
async function newsSince(start: number, ...folders: string[]): Promise<FolderNews[]> {
  const last = await createFolder(service, owner);
  await until("the last change", () => observer.folderNews.some(({ folder_id }) => folder_id === last));
  return observer.folderNews.slice(start).filter(({ folder_id }) => folders.includes(folder_id));
}
const now = (): number => observer.folderNews.length;
const summary = ({ change, user_ids }: FolderNews): string => [change, ...user_ids].join(" ");
/** What `work` tells of the folder: kinds of changes, with the people who are told besides. */
async function told(folder: string, work: () => Promise<{ status: number }>): Promise<string[]> {
  await newsSince(0);
  const start = now();
  const { status } = await work();
  if (status >= 300) throw new Error(`it was answered ${status}`);
  const news = await newsSince(start, folder);
  for (const { updated_at } of news) t.match(updated_at, moment);
  return news.map(summary);
}
async function newMember(): Promise<Person> {
  const person = await register(service, { orgName: "Elsewhere" });
  await join(service, orgId, person, "member");
  return person;
}

/** Makes so many members who hold the folder. */
async function addHolders(folder: string, count: number): Promise<void> {
  await execute(
    service,
    `WITH people AS (
       INSERT INTO auth_sm.users (id, email, name, opaque_setup_id, registration_record, public_key, encrypted_user_key,
         encrypted_private_key, created_at)
       SELECT gen_random_uuid(), gen_random_uuid(), '', opaque_setup_id, '', '', '', '', now()
       FROM auth_sm.users, generate_series(1, $4) WHERE id = $3 RETURNING id
     ), members AS (
       INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at)
       SELECT $1, id, 'member', 'active', now() FROM people
     )
     INSERT INTO auth_sm.folder_members (folder_id, user_id, permission, encrypted_key, encrypted_key_alg, added_at)
     SELECT $2, id, 'read', 'a.jwe', 'jwe', now() FROM people`,
    [orgId, folder, owner.userId, count],
  );
}

await t.test("the creation, rename and deletion of a folder are published, the last to its holders", async (t) => {
  const start = now();
  const made = await as(owner, "POST", "/api/org/folders", { name: "one", encrypted_key: "AAAA" });
  const folder = made.body.id;
  t.match(await newsSince(start, folder), [
    { folder_id: folder, change: "metadata", updated_at: made.body.updated_at, user_ids: [] },
  ]);
  const path = `/api/org/folders/${folder}`;
  const renaming = now();
  const renamed = await as(owner, "PATCH", path, { name: "two" });
  t.match(await newsSince(renaming, folder), [{ change: "metadata", updated_at: renamed.body.updated_at }]);
  const { member, auditor, suspended } = company;
  for (const person of [member, auditor, suspended]) await share(service, folder, person, "read");
  const [news, ...more] = await told(folder, () => as(owner, "DELETE", path));
  t.strictSame(more, []);
  t.strictSame(news?.split(" ").sort(), ["metadata", owner.userId, member.userId].sort());
});

await t.test("a granted or lost folder is published, and a new key", async (t) => {
  const folder = await createFolder(service, owner);
  const { member } = company;
  const at = `/api/org/folders/${folder}/members/${member.userId}`;
  const grant = { permission: "read", encrypted_key: jwe };
  t.strictSame(await told(folder, () => as(owner, "PUT", at, grant)), ["membership"]);
  t.strictSame(
    await told(folder, async () => rotate(service, owner, folder, await rotationOf(service, owner, folder))),
    ["key"],
  );
  t.strictSame(await told(folder, () => as(owner, "DELETE", at)), [`membership ${member.userId}`]);
});

await t.test("what a person can hold changes with the membership", async (t) => {
  const person = await newMember();
  const folder = await createFolder(service, owner);
  const other = await createFolder(service, owner);
  await share(service, folder, person, "read");
  const at = `/api/org/members/${person.userId}`;
  const change = (body: object) => told(folder, () => as(owner, "PATCH", at, body));
  const lost = [`membership ${person.userId}`];
  t.strictSame(await change({ role: "admin" }), [], "an admin holds what a member holds");
  t.strictSame(await change({ status: "suspended" }), lost);
  t.strictSame(await change({ role: "auditor" }), [], "who could not before cannot now");
  t.strictSame(await change({ status: "active" }), []);
  t.strictSame(await change({ role: "member" }), lost, "or gets it back");
  t.strictSame(await change({ role: "auditor" }), lost);
  t.strictSame(await told(folder, () => as(owner, "DELETE", at)), lost);
  t.strictSame((await newsSince(0, other)).map(summary), ["metadata"], "none of it is about another folder");
});

await t.test("the machines that hold a folder are published", async (t) => {
  const folder = await createFolder(service, owner);
  const applicationId = await createApplication(service, owner);
  const grant = { folder_id: folder, permission: "read" } as const;
  const bootstrapped = async () => {
    const machine = await createMachine(service, owner, [grant], { applicationId });
    return { status: 200, machine };
  };
  let clientId = "";
  t.strictSame(
    await told(folder, async () => {
      const done = await bootstrapped();
      ({ clientId } = done.machine);
      return done;
    }),
    ["membership"],
  );
  const client = () => `/api/org/applications/${applicationId}/clients/${clientId}`;
  const at = () => `${client()}/folders/${folder}`;
  t.strictSame(await told(folder, () => as(owner, "PUT", at(), { permission: "write", encrypted_key: jwe })), [
    "membership",
  ]);
  t.strictSame(await told(folder, () => as(owner, "DELETE", at())), ["membership"]);
  t.strictSame(await told(folder, () => as(owner, "DELETE", client())), [], "it had none any more");
  ({ clientId } = (await bootstrapped()).machine);
  t.strictSame(await told(folder, () => as(owner, "DELETE", client())), ["membership"]);
  await bootstrapped();
  await bootstrapped();
  t.strictSame(await told(folder, () => as(owner, "DELETE", `/api/org/applications/${applicationId}`)), ["membership"]);
});

await t.test("every write of a secret by a machine or a person is published with its time", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const path = `/api/org/folders/${folder}/secrets`;
  await newsSince(0);
  const start = now();
  const content = { encrypted_payload: "AAAA", wrapped_dek: "AAAA" };
  const made = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder) });
  const changed = await ask(service, machine, "PUT", `/secrets/${made.body.uid}`, { body: content });
  t.equal((await ask(service, machine, "DELETE", `/secrets/${made.body.uid}`)).status, 204);
  const own = await as(owner, "POST", path, secretBody(folder));
  const again = await as(owner, "PUT", `${path}/${own.body.uid}`, content);
  t.equal((await as(owner, "DELETE", `${path}/${own.body.uid}`)).status, 204);
  t.equal((await as(owner, "DELETE", `${path}/${own.body.uid}`)).status, 404);
  t.equal((await as(owner, "POST", path, secretBody(folder, { uid: "x" }))).status, 400);
  const times = (): string[] => news().map(({ updated_at }) => updated_at);
  const news = () =>
    observer.folderNews.slice(start).filter(({ folder_id, change }) => folder_id === folder && change === "secrets");
  await until("all six", () => news().length >= 6);
  await newsSince(0);
  t.equal(news().length, 6, "what was refused is none");
  t.ok(news().every(({ user_ids }) => user_ids.length === 0));
  for (const { body } of [made, changed, own, again]) t.ok(times().includes(body.updated_at));
  const deletion = times().filter((time) => time > changed.body.updated_at && time !== again.body.updated_at);
  t.ok(deletion.length >= 2, "deletions come after what they delete");
});

await t.test("the holders of a folder come in pages, each holder once", async (t) => {
  const folder = await createFolder(service, owner);
  const { member, admin, auditor, suspended, stranger } = company;
  for (const person of [member, auditor, suspended, stranger]) await share(service, folder, person, "read");
  const page = await observer.sync.request(folderHolders, { folder_id: folder, after: null });
  t.strictSame([...page.user_ids].sort(), [owner.userId, member.userId].sort());
  t.equal(page.after, null);
  t.notOk(page.user_ids.includes(admin.userId), "an admin without a grant sees no folder");
  const nothing = { user_ids: [], after: null };
  t.strictSame(await observer.sync.request(folderHolders, { folder_id: randomUUID(), after: null }), nothing);
  await t.rejects(observer.sync.request(folderHolders, { folder_id: folder, after: "x" }), { code: "invalid_request" });

  await addHolders(folder, 998);
  const found: string[] = [];
  const sizes: number[] = [];
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const next: typeof page = await observer.sync.request(folderHolders, { folder_id: folder, after });
    found.push(...next.user_ids);
    sizes.push(next.user_ids.length);
    ({ after } = next);
  }
  t.strictSame(sizes, [500, 500, 0]);
  t.equal(new Set(found).size, 1_000);
});

await t.test("a deletion for more people than one event holds is several events", async (t) => {
  const folder = await createFolder(service, owner);
  await addHolders(folder, 5_000);
  const start = now();
  t.equal((await as(owner, "DELETE", `/api/org/folders/${folder}`)).status, 204);
  const news = await newsSince(start, folder);
  t.strictSame(
    news.map(({ user_ids }) => user_ids.length),
    [5_000, 1],
  );
  t.equal(new Set(news.flatMap(({ user_ids }) => user_ids)).size, 5_001);
});

await t.test("a published write contains no secret", async (t) => {
  const folder = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  await createSecret(service, machine, folder, { title: "a title" });
  const found = await until("the news", () =>
    observer.folderNews.find(({ folder_id, change }) => folder_id === folder && change === "secrets"),
  );
  t.strictSame(Object.keys(found).sort(), ["change", "folder_id", "id", "updated_at", "user_ids"]);
});
