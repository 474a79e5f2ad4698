import { randomUUID } from "node:crypto";
import { type AuditDraft, auditSchemaName } from "@coffer/events";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { schema } from "../../src/migrate.ts";
import { type AuthorizedFolder, createSecretWrites } from "../../src/store/secrets/secret-writes.ts";
import { createFolder, createMachine, createSecret } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { logIn, type Person, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// Changes between the authorization and the write, which no caller can time: only the statements,
// with authorized values.

const service = await startAuthSm(t);
const company = await startCompany(service);
const { orgId, owner, member, auditor, suspended, stranger } = company;
const folderId = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folderId, permission: "write" }]);
const reader = await createMachine(service, owner, [{ folder_id: folderId, permission: "read" }]);
const ungranted = await createMachine(service, owner, []);
const revoked = await createMachine(service, owner, [{ folder_id: folderId, permission: "write" }]);
await execute(service, "UPDATE auth_sm.clients SET revoked_at = now() WHERE id = $1", [revoked.clientId]);
const loggedOut = await logIn(service, owner);
await execute(service, "UPDATE auth_sm.sessions SET revoked_at = now() WHERE id = $1", [loggedOut.sessionId]);
for (const person of [member, auditor, suspended]) await share(service, folderId, person, "manage");
const database = createDatabase({
  url: service.postgres.url,
  schema,
  telemetry: createTelemetry({ service: "auth-sm", level: "silent" }),
});
t.teardown(() => database.close());
const writes = createSecretWrites(database);

const client = ({ clientId }: { clientId: string }) => ({ type: "client", id: clientId }) as const;
const person = ({ userId, sessionId }: Person) => ({ type: "user", id: userId, session_id: sessionId }) as const;
type Actor = ReturnType<typeof client> | ReturnType<typeof person>;

const content = { encrypted_payload: sealed(), wrapped_dek: sealed() };
const audit = (actor: Actor): AuditDraft => ({
  schema: auditSchemaName,
  id: randomUUID(),
  time: new Date().toISOString(),
  org_id: orgId,
  action: "secret.created",
  outcome: "success",
  actor,
  target: { type: "secret", id: null },
  source: { ip: "192.0.2.1", user_agent: null },
  request: { id: "judged", method: "POST", route: "/", status: 201 },
});
const folder = (actor: Actor, over: Partial<AuthorizedFolder> = {}) => ({
  actor,
  orgId,
  folderId,
  keyVersion: 1,
  ...over,
});
const now = new Date();

const insert = (actor: Actor, over: Partial<AuthorizedFolder> = {}, record = audit(actor)) =>
  writes.insert({
    uid: `s${randomUUID().slice(1, 22)}`,
    recordType: "login",
    content,
    folder: folder(actor, over),
    now,
    audit: record,
  });

const outboxRows = (id: string) => execute(service, "SELECT id FROM auth_sm.outbox WHERE id = $1", [id]);

await t.test("a secret is inserted only while the conditions hold", async (t) => {
  for (const actor of [client(machine), person(owner), person(member)]) t.ok(await insert(actor), actor.type);
  const refused = { reader: client(reader), ungranted: client(ungranted), revoked: client(revoked) };
  const others = { auditor: person(auditor), suspended: person(suspended), stranger: person(stranger) };
  const ended = { "logged out": person(loggedOut) };
  for (const [name, actor] of Object.entries({ ...refused, ...others, ...ended }))
    t.equal(await insert(actor), null, name);
  t.equal(await insert(client(machine), { keyVersion: 2 }), null, "another key version");
  t.equal(await insert(client(machine), { orgId: company.strangersOrgId }), null, "another organization");
  t.equal(await insert(client(machine), { folderId: randomUUID() }), null, "no such folder");
});

await t.test("a secret is replaced and removed only while the conditions hold", async (t) => {
  const uid = await createSecret(service, machine, folderId);
  const present = await database
    .prepared<Parameters<typeof writes.replace>[0]["present"]>(
      "receipt",
      "SELECT uid, folder_id, record_type, created_at, updated_at, version, key_version FROM secrets WHERE uid = $1",
    )([uid])
    .then(([row]) => row);
  if (present === undefined) throw new Error("the secret is not there");
  const replace = (actor: Actor, over: Partial<typeof present> = {}) =>
    writes.replace({ present: { ...present, ...over }, content, folder: folder(actor), now, audit: audit(actor) });
  const remove = (actor: Actor, over: Partial<typeof present> = {}) =>
    writes.remove({ present: { ...present, ...over }, folder: folder(actor), now, audit: audit(actor) });
  for (const write of [replace, remove]) {
    for (const actor of [client(reader), client(ungranted), client(revoked), person(auditor), person(suspended)]) {
      t.equal(await write(actor), null);
    }
    t.equal(await write(person(loggedOut)), null, "logged out");
    t.equal(await write(client(machine), { version: 2 }), null, "another version");
    t.equal(await write(client(machine), { updated_at: "2026-01-01T00:00:00.000000Z" }), null, "another time");
  }
  t.match(await replace(client(machine)), { uid, version: 2 });
  t.equal(await remove(client(machine)), null, "it has changed since");
});

await t.test("a write that did not happen leaves no record", async (t) => {
  const [refused, written] = [audit(client(revoked)), audit(client(machine))];
  t.equal(await insert(client(revoked), {}, refused), null);
  t.strictSame(await outboxRows(refused.id), []);
  t.ok(await insert(client(machine), {}, written));
  await service.observer.record("what was written", ({ id }) => id === written.id);
  t.notOk(service.observer.records.some(({ id }) => id === refused.id));
});
