import t from "tap";
import { call } from "./support/call.ts";
import { createApplication, createFolder, createMachine, createToken } from "./support/machines.ts";
import { insertFolders } from "./support/many-folders.ts";
import { accept, execute, invite, orgOf } from "./support/members.ts";
import { type Person, register, sealed } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

// The greatest number of what an organization, a machine or a person has.

const service = await startAuthSm(t);

const exceeded = (message: string) => ({ status: 403, body: { error: "quota_exceeded", message } });
const post = ({ token }: Person, path: string, body: object) => call(service, "POST", path, { token, body });

await t.test("an organization has 5,000 folders at most, also when they are created at once", async (t) => {
  const owner = await register(service, { orgName: "Folders" });
  const folders = await insertFolders(service, { owner, count: 4_998 });
  const create = (n: number) => post(owner, "/api/org/folders", { name: `new ${n}`, encrypted_key: sealed() });
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => create(n)));
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 201, 403, 403, 403, 403]);
  t.match(await create(7), exceeded("the organization has 5000 folders, its quota: delete some first"));
  const orgId = await orgOf(service, owner);
  const record = await service.observer.record("folder.created", ({ org_id, outcome }) => {
    return org_id === orgId && outcome === "denied";
  });
  t.match(record, { reason: "quota_exceeded" });
  const replica = await service.replica();
  const there = { token: owner.token, body: { name: "elsewhere", encrypted_key: sealed() } };
  t.match(await call(replica, "POST", "/api/org/folders", there), { status: 403 });
  t.match(await replica.metrics(), /^coffer_quota_refusals_total\{[^}]*kind="folders",limit="items"[^}]*\} 1$/m);
  await call(service, "DELETE", `/api/org/folders/${folders[0]}`, { token: owner.token });
  t.match(await create(8), { status: 201 });
});

await t.test("an organization has 5,000 applications at most", async (t) => {
  const owner = await register(service, { orgName: "Applications" });
  const text = `
    INSERT INTO auth_sm.applications (id, org_id, name, name_folded, description, created_at)
    SELECT gen_random_uuid(), $1, 'many ' || n, 'many ' || n, '', now() FROM generate_series(1, 4999) AS n`;
  await execute(service, text, [await orgOf(service, owner)]);
  const create = (name: string) => post(owner, "/api/org/applications", { name });
  t.match(await create("the last"), { status: 201 });
  t.match(await create("one more"), exceeded("the organization has 5000 applications, its quota: delete some first"));
});

await t.test("an organization has 5,000 tokens at most that can still be used", async (t) => {
  const owner = await register(service, { orgName: "Tokens" });
  const applicationId = await createApplication(service, owner);
  const text = `
    INSERT INTO auth_sm.access_tokens (id, org_id, application_id, name, token_hash, created_at, expires_at, used_at, revoked_at)
    SELECT gen_random_uuid(), $1, $2::text::uuid, 'many', decode(md5($2 || kind || n), 'hex'), now(),
      now() + CASE kind WHEN 'expired' THEN interval '-1 hour' ELSE interval '1 hour' END,
      CASE kind WHEN 'used' THEN now() END, CASE kind WHEN 'revoked' THEN now() END
    FROM generate_series(1, 4999) AS n, unnest(ARRAY['open', 'expired', 'used', 'revoked']) AS kind`;
  await execute(service, text, [await orgOf(service, owner), applicationId]);
  const last = await createToken(service, owner, [], { applicationId });
  const path = `/api/org/applications/${applicationId}/tokens`;
  const one = { name: "one more", folders: [] };
  t.match(
    await post(owner, path, one),
    exceeded("the organization has 5000 unused one-time tokens, its quota: revoke some, or wait until they expire"),
  );
  t.match(await call(service, "DELETE", `${path}/${last.id}`, { token: owner.token }), { status: 204 });
  t.match(await post(owner, path, one), { status: 201 });
});

await t.test("a machine has grants on 1,000 folders at most", async (t) => {
  const owner = await register(service, { orgName: "Grants" });
  const folders = await insertFolders(service, { owner, count: 999 });
  const [last, other] = [await createFolder(service, owner), await createFolder(service, owner)];
  const machine = await createMachine(service, owner, []);
  const text = `
    INSERT INTO auth_sm.client_folders (client_id, folder_id, permission, added_at)
    SELECT $1, id, 'read', now() FROM unnest($2::uuid[]) AS id`;
  await execute(service, text, [machine.clientId, folders]);
  const grant = (folder: string) => {
    const path = `/api/org/applications/${machine.applicationId}/clients/${machine.clientId}/folders/${folder}`;
    return call(service, "PUT", path, {
      token: owner.token,
      body: { permission: "write", encrypted_key: "a.b.c.d.e" },
    });
  };
  t.match(await grant(last), { status: 200 });
  t.match(await grant(other), exceeded("the machine has grants on 1000 folders, its quota: remove some first"));
  t.match(await grant(last), { status: 200 }, "a grant that it has changes");
});

await t.test("a person belongs to 200 organizations at most", async (t) => {
  const person = await register(service, { orgName: "First" });
  const text = `
    WITH made AS (
      INSERT INTO auth_sm.orgs (id, name, plan, created_at)
      SELECT gen_random_uuid(), 'many', 'enterprise', now() FROM generate_series(1, 198) RETURNING id
    )
    INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at)
    SELECT id, $1, 'member', 'active', now() FROM made`;
  await execute(service, text, [person.userId]);
  t.match(await post(person, "/api/orgs", { name: "the last" }), { status: 201 });
  const full = exceeded("you belong to 200 organizations, your quota: leave some first");
  t.match(await post(person, "/api/orgs", { name: "one more" }), full);
  const colleague = await register(service, { orgName: "Colleague" });
  const { body } = await invite(service, colleague, { email: person.email, role: "member" });
  t.match(await accept(service, person, body.token), full);
  await execute(
    service,
    "DELETE FROM auth_sm.memberships WHERE user_id = $1 AND org_id IN (SELECT id FROM auth_sm.orgs WHERE name = 'many' LIMIT 1)",
    [person.userId],
  );
  t.match(await accept(service, person, body.token), { status: 200 }, "the invitation stays");
});
