import { requestSlowly } from "@coffer/testkit";
import t from "tap";
import { type AnswerBody, call } from "../support/call.ts";
import { createApplication, createFolder, newKeyPair } from "../support/machines.ts";
import { insertFolders } from "../support/many-folders.ts";
import { execute, join, orgOf, share } from "../support/members.ts";
import { type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// Lists of folders, applications, tokens and machines that are longer than a part: 200 items, or
// 2,000 folders of them.

const service = await startAuthSm(t);

async function get({ token }: Person, path: string): Promise<AnswerBody> {
  const { status, body } = await call(service, "GET", path, { token });
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
  return body;
}

const idsOf = ({ data }: { data: { id?: string; client_id?: string }[] }) =>
  data.map(({ id, client_id }) => id ?? client_id);

/** The ids of all pages of a list. */
async function paged(person: Person, path: string, limit: number): Promise<{ ids: unknown[]; lengths: number[] }> {
  const ids: unknown[] = [];
  const lengths: number[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const body: AnswerBody = await get(person, `${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    ids.push(...idsOf(body));
    lengths.push(body.data.length);
    cursor = body.next_cursor;
  }
  return { ids, lengths };
}

await t.test("a list of more than 200 folders is whole, and its pages are as long as their limit", async (t) => {
  const owner = await register(service, { orgName: "Folders" });
  const folders = await insertFolders(service, { owner, count: 450 });
  const whole = await get(owner, "/api/org/folders");
  t.strictSame(idsOf(whole), folders);
  t.strictSame(Object.keys(whole), ["data"]);
  t.notOk(whole.data.some((folder) => "name_folded" in folder));
  t.strictSame(await paged(owner, "/api/org/folders", 200), { ids: folders, lengths: [200, 200, 50] });
  t.strictSame(await paged(owner, "/api/org/folders", 225), { ids: folders, lengths: [225, 225] });
  for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=e30"]) {
    const refused = await call(service, "GET", `/api/org/folders?${query}`, { token: owner.token });
    t.match(refused, { status: 400, body: { error: "invalid_request" } }, query);
  }
});

await t.test("a page follows names that differ late, and a folder that was renamed or deleted", async (t) => {
  const owner = await register(service, { orgName: "Names" });
  const start = "\u{1F600}".repeat(126);
  const ids: string[] = [];
  for (const end of ["a", "b", "c", "d"]) ids.push(await createFolder(service, owner, start + end));
  t.strictSame(await paged(owner, "/api/org/folders", 2), { ids, lengths: [2, 2] });
  const path = "/api/org/folders?limit=2";
  const { next_cursor: cursor } = await get(owner, path);
  // Sorts behind all of them.
  const renamed = { token: owner.token, body: { name: "\u{1F601}" } };
  await call(service, "PATCH", `/api/org/folders/${ids[1]}`, renamed);
  t.strictSame(idsOf(await get(owner, `${path}&cursor=${cursor}`)), [ids[0], ids[2]], "repeats, and leaves none out");
  await call(service, "DELETE", `/api/org/folders/${ids[1]}`, { token: owner.token });
  t.strictSame(idsOf(await get(owner, `${path}&cursor=${cursor}`)), [ids[0], ids[2]]);
});

await t.test("a cursor that names a row that its caller cannot list shows nothing of its name", async (t) => {
  const owner = await register(service, { orgName: "Listed" });
  const member = await register(service);
  await join(service, await orgOf(service, owner), member, "member");
  const stranger = await register(service, { orgName: "Elsewhere" });
  const cursorAfter = (id: unknown, start: string) => Buffer.from(JSON.stringify({ id, start })).toString("base64url");
  const folder = await createFolder(service, owner, "secret-z");
  const application = await createApplication(service, owner, "secret-z");
  // Between the start of the cursor and the rest of the name: left out only if the name is the position.
  const ofMember = await createFolder(service, owner, "secret-m");
  await share(service, ofMember, member, "read");
  const ofStranger = await createFolder(service, stranger, "secret-m");
  const applicationOfStranger = await createApplication(service, stranger, "secret-m");
  for (const [reader, path, id, own] of [
    [member, "/api/org/folders", folder, ofMember],
    [stranger, "/api/org/folders", folder, ofStranger],
    [stranger, "/api/org/applications", application, applicationOfStranger],
  ] as const)
    t.strictSame(idsOf(await get(reader, `${path}?limit=2&cursor=${cursorAfter(id, "secret-")}`)), [own], path);
  const broken = `/api/org/folders?cursor=${cursorAfter(folder, "\u0000")}`;
  t.match(await call(service, "GET", broken, { token: owner.token }), { status: 400 });
});

await t.test(
  "a long list is cut when its reader loses the membership, and hides keys from a new auditor",
  async (t) => {
    const owner = await register(service, { orgName: "Ended" });
    await insertFolders(service, { owner, count: 5_000, keyCharacters: 4 * 1024 });
    const orgId = await orgOf(service, owner);
    const read = () => requestSlowly(`${service.url}/api/org/folders`, { authorization: `Bearer ${owner.token}` });
    const demoted = await read();
    await join(service, orgId, owner, "auditor");
    const { data } = JSON.parse(await demoted.read()) as { data: { encrypted_key: string | null }[] }; // as described
    t.equal(data.length, 5_000);
    t.equal(data[0]?.encrypted_key?.length, 4 * 1024);
    t.equal(data.at(-1)?.encrypted_key, null);
    // It does not go on with the next organization of the reader.
    await call(service, "POST", "/api/orgs", { token: owner.token, body: { name: "Next" } });
    const removed = await read();
    await execute(service, "DELETE FROM auth_sm.memberships WHERE org_id = $1", [orgId]);
    await t.rejects(removed.read());
  },
);

await t.test("so is a list of applications", async (t) => {
  const owner = await register(service, { orgName: "Applications" });
  const rows = await execute(
    service,
    `INSERT INTO auth_sm.applications (id, org_id, name, name_folded, description, created_at)
     SELECT gen_random_uuid(), $1, to_char(n, '000'), to_char(n, '000'), '', now() FROM generate_series(1, 401) AS n
     RETURNING id, name`,
    [await orgOf(service, owner)],
  );
  const ids = (rows as { id: string; name: string }[]).sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ id }) => id);
  const path = "/api/org/applications";
  t.strictSame(idsOf(await get(owner, path)), ids);
  t.strictSame(await paged(owner, path, 201), { ids, lengths: [201, 200] });
});

await t.test("lists of tokens and machines are, by their number or by that of their folders", async (t) => {
  const owner = await register(service, { orgName: "Machines" });
  const folders = await insertFolders(service, { owner, count: 500 });
  const application = await createApplication(service, owner);
  const values = [await orgOf(service, owner), application, newKeyPair().spki, folders];
  const at = "now() + n * interval '1 millisecond'";
  // The last six have 500 folders each.
  const tokens = await execute(
    service,
    `WITH made AS (
       INSERT INTO auth_sm.access_tokens (id, org_id, application_id, name, token_hash, created_at, expires_at)
       SELECT gen_random_uuid(), $1, $2::text::uuid, to_char(n, '000'), decode(md5($2 || n || left($3, 0)), 'hex'), ${at},
         now() + interval '1 hour' FROM generate_series(1, 410) AS n
       RETURNING id, name
     ), granted AS (
       INSERT INTO auth_sm.access_token_folders (token_id, folder_id, permission)
       SELECT id, folder, 'read' FROM made, unnest($4::uuid[]) AS folder WHERE name > ' 404'
     )
     SELECT id FROM made ORDER BY name`,
    values,
  );
  const clients = await execute(
    service,
    `WITH made AS (
       INSERT INTO auth_sm.clients (id, org_id, application_id, name, public_key, created_at)
       SELECT gen_random_uuid(), $1, $2::text::uuid, to_char(n, '000'), $3, ${at} FROM generate_series(1, 410) AS n
       RETURNING id, name
     ), granted AS (
       INSERT INTO auth_sm.client_folders (client_id, folder_id, permission, added_at)
       SELECT id, folder, 'read', now() FROM made, unnest($4::uuid[]) AS folder WHERE name > ' 404'
     )
     SELECT id FROM made ORDER BY name`,
    values,
  );
  for (const [what, rows] of [
    ["tokens", tokens],
    ["clients", clients],
  ] as const) {
    const ids = (rows as { id: string }[]).map(({ id }) => id);
    const path = `/api/org/applications/${application}/${what}`;
    const whole = await get(owner, path);
    t.strictSame(idsOf(whole), ids, what);
    t.strictSame(Object.keys(whole), ["data"]);
    t.notOk("found" in (whole.data[0] ?? {}));
    t.strictSame(
      whole.data.slice(-7).map((each) => (each as unknown as { folders: unknown[] }).folders.length), // as described
      [0, 500, 500, 500, 500, 500, 500],
    );
    t.strictSame(await paged(owner, path, 405), { ids, lengths: [405, 5] });
    t.strictSame(await paged(owner, path, 82), { ids, lengths: [82, 82, 82, 82, 82] });
  }
});
