import { randomUUID } from "node:crypto";
import { auditAppend, type AuditDraft, auditSchemaName, folderChanged } from "@coffer/events";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { migrateService, schema } from "../../src/migrate.ts";
import { createSecretWrites, type Inserted } from "../../src/store/secrets/secret-writes.ts";
import type { SecretReceiptRow } from "../../src/store/secrets/secrets.ts";
import { sealed } from "../support/people.ts";

// Writes of many machines in one statement, without the service around it: requests of one event
// loop turn share it.
// optimistic-writes.test.ts has the authorization.

const postgres = await testPostgres(t);
await migrateService(postgres);
const database = createDatabase({
  ...postgres,
  schema,
  telemetry: createTelemetry({ service: "auth-sm", level: "silent" }),
});
t.teardown(() => database.close());
const writes = createSecretWrites(database);
const owner = new pg.Client({ connectionString: postgres.url, options: `-c search_path=${schema}` });
await owner.connect();
t.teardown(() => owner.end());
const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await owner.query<Row>(text, values)).rows;

/** A folder with a machine that writes there and one that reads, in their own organization. */
async function newPlace() {
  const [orgId, folderId, writer, reader] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await rows("INSERT INTO orgs (id, name, plan, created_at) VALUES ($1, 'Org', 'team', now())", [orgId]);
  await rows(
    `INSERT INTO folders (id, org_id, name, name_folded, created_at, updated_at)
     VALUES ($1, $2, 'Folder', 'folder', now(), now())`,
    [folderId, orgId],
  );
  for (const [clientId, permission] of [
    [writer, "write"],
    [reader, "read"],
  ]) {
    await rows("INSERT INTO clients (id, org_id, name, public_key, created_at) VALUES ($1, $2, 'c', 'key', now())", [
      clientId,
      orgId,
    ]);
    await rows("INSERT INTO client_folders (client_id, folder_id, permission, added_at) VALUES ($1, $2, $3, now())", [
      clientId,
      folderId,
      permission,
    ]);
  }
  return { orgId, folderId, writer, reader };
}
const here = await newPlace();
const elsewhere = await newPlace();

const moment = "2026-11-20T10:00:00.000000Z";
const now = new Date(moment);
type Place = typeof here;
function write(over: { place?: Place; clientId?: string; keyVersion?: number } = {}) {
  const { place = here, keyVersion = 1 } = over;
  const actor = { type: "client", id: over.clientId ?? place.writer } as const;
  const audit: AuditDraft = {
    schema: auditSchemaName,
    id: randomUUID(),
    time: now.toISOString(),
    org_id: place.orgId,
    action: "secret.created",
    outcome: "success",
    actor,
    target: { type: "secret", id: null },
    source: { ip: "192.0.2.1", user_agent: 'a "quoted\\" agent, {of} many' },
    request: { id: "together", method: "POST", route: "/", status: 201 },
  };
  return { folder: { actor, orgId: place.orgId, folderId: place.folderId, keyVersion }, audit, now };
}
type Write = ReturnType<typeof write>;
/**
 * Names that Postgres's arrays and JSON write in their own form, in the order that JavaScript
 * gives them.
 */
const fieldsOf = (value: string) => ({
  [`{"a",\\b}`]: value,
  NULL: value,
  "": value,
  "\u{ff5e}": value,
  "\u{1f511}": value,
});
const content = (fields: Record<string, string> = {}) => ({
  encrypted_payload: sealed(),
  wrapped_dek: sealed(),
  fields,
});
const newUid = () => `s${randomUUID().slice(1, 22)}`;
const insert = (asked: Write, uid: string = newUid(), sent = content()): Promise<Inserted | null> =>
  writes.insert({ ...asked, uid, recordType: "login", content: sent });
async function made(asked: Write = write(), uid?: string): Promise<SecretReceiptRow> {
  const secret = await insert(asked, uid);
  if (secret === null || secret === "taken") throw new Error("the secret was not made");
  return secret;
}

interface Message {
  subject: string;
  id: string;
  payload: unknown;
}
/** What was left for others; forgets it. */
const left = () => rows<Message & pg.QueryResultRow>("DELETE FROM outbox RETURNING subject, id, payload");
/** What writes are to leave. */
const messages = (asked: readonly Write[], updated_at = moment): Message[] =>
  asked.flatMap(({ audit, folder }) => [
    { subject: auditAppend.subject, id: audit.id, payload: [audit] },
    {
      subject: folderChanged.subject,
      id: audit.id,
      payload: { id: audit.id, folder_id: folder.folderId, change: "secrets", updated_at, user_ids: [] },
    },
  ]);
const keyOf = ({ id, subject }: Message) => `${id} ${subject}`;
const sorted = (list: Message[]) => list.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

interface Stored extends pg.QueryResultRow {
  org_id: string;
  uid: string;
  fields: Record<string, string>;
  field_names: string[];
  encrypted_payload: string;
  xmin: string;
}
const stored = (uids: readonly string[]) =>
  rows<Stored>(
    `SELECT org_id, uid, fields, field_names, encrypted_payload, xmin::text FROM secrets
     WHERE uid = ANY ($1) ORDER BY uid, org_id`,
    [uids],
  );

await t.test(
  "each of several secrets in one statement gets its own values, also when others are refused",
  async (t) => {
    const taken = await made();
    await left();
    const refused = [
      write({ clientId: here.reader }),
      write({ clientId: elsewhere.writer }),
      write({ place: { ...elsewhere, folderId: here.folderId } }),
      write({ keyVersion: 2 }),
    ];
    const done = [write(), write({ place: elsewhere }), write()];
    const asked = [...refused, ...done].map((each, index) => ({
      each,
      uid: newUid(),
      sent: content(index % 2 === 0 ? fieldsOf(sealed()) : {}),
    }));
    const answers = await Promise.all([
      ...asked.map(({ each, uid, sent }) => insert(each, uid, sent)),
      insert(write(), taken.uid),
    ]);
    const receipt = ({ each, uid }: { each: Write; uid: string }) => ({
      uid,
      folder_id: each.folder.folderId,
      record_type: "login",
      created_at: moment,
      updated_at: moment,
      version: 1,
      key_version: 1,
      expires_at: null,
    });
    t.strictSame(answers, [null, null, null, null, ...asked.slice(4).map(receipt), "taken"]);
    t.same(sorted(await left()), sorted(messages(done)), "the messages of those that were made, and of no others");
    const there = await stored(asked.map(({ uid }) => uid));
    t.equal(there.length, done.length);
    for (const { uid, each, sent } of asked.slice(4))
      t.match(
        there.find((row) => row.uid === uid),
        {
          org_id: each.folder.orgId,
          encrypted_payload: sent.encrypted_payload,
          fields: sent.fields,
          field_names: Object.keys(sent.fields).sort(),
        },
      );
    t.equal(new Set(there.map(({ xmin }) => xmin)).size, 1, "in one transaction");
  },
);

await t.test("two organizations write a secret of the same uid in one turn: each its own", async (t) => {
  const uid = newUid();
  const [ours, theirs] = [write(), write({ place: elsewhere })];
  const answers = await Promise.all([insert(ours, uid), insert(theirs, uid)]);
  t.match(answers, [
    { uid, folder_id: here.folderId },
    { uid, folder_id: elsewhere.folderId },
  ]);
  t.same(sorted(await left()), sorted(messages([ours, theirs])));
  const [first, second] = answers as [SecretReceiptRow, SecretReceiptRow];
  const sent = content();
  const update = write();
  t.match(
    await Promise.all([
      writes.replace({ ...update, present: first, content: sent }),
      writes.remove({ ...write({ place: elsewhere }), present: second }),
    ]),
    [{ uid, version: 2 }, true],
  );
  t.match(await stored([uid]), [{ org_id: here.orgId, encrypted_payload: sent.encrypted_payload }]);
  await left();
});

await t.test("of grouped writes of one secret one succeeds, and the others are decided again", async (t) => {
  const uid = newUid();
  const [first, second] = await Promise.all([insert(write(), uid), insert(write(), uid)]);
  t.match(first, { uid });
  t.equal(second, null);
  t.equal(await insert(write(), uid), "taken");
  t.equal((await left()).length, 2);

  const present = first as SecretReceiptRow;
  const contents = [content(), content(), content()];
  const [update, ...later] = await Promise.all(
    contents.map((sent) => writes.replace({ ...write(), present, content: sent })),
  );
  t.match(update, { uid, version: 2, updated_at: "2026-11-20T10:00:00.000001Z" });
  t.same(later, [null, null]);
  t.equal((await left()).length, 2);
  t.match(await stored([uid]), [{ encrypted_payload: contents[0]?.encrypted_payload }]);

  const remove = () => writes.remove({ ...write(), present: update as SecretReceiptRow });
  t.same(await Promise.all([remove(), remove()]), [true, null]);
  t.equal(await remove(), null);
  t.equal((await left()).length, 2);
});

await t.test("of updates and deletions that go together each has its own condition", async (t) => {
  const secrets = await Promise.all([made(), made(), made(write({ place: elsewhere })), made()]);
  const [one, two, three, four] = secrets;
  await left();
  const replace = (present: SecretReceiptRow, asked: Write) =>
    writes.replace({ ...asked, present, content: content() });
  t.match(
    await Promise.all([
      replace(one, write()),
      replace({ ...two, version: 2 }, write()),
      replace(three, write({ place: elsewhere })),
      replace(four, write({ clientId: here.reader })),
      replace({ ...four, uid: newUid() }, write()),
    ]),
    [{ uid: one.uid, version: 2 }, null, { uid: three.uid, version: 2 }, null, null],
  );
  t.equal((await left()).length, 4);
  const remove = (present: SecretReceiptRow, asked: Write) => writes.remove({ ...asked, present });
  t.same(
    await Promise.all([
      remove(one, write()),
      remove(two, write()),
      remove(three, write({ place: elsewhere })),
      remove(four, write()),
    ]),
    [null, true, null, true],
  );
  t.equal((await left()).length, 4);
  t.same(
    (await stored(secrets.map(({ uid }) => uid))).map(({ uid }) => uid),
    [one.uid, three.uid].sort(),
  );
});

await t.test("of writes that go together each sets, keeps or removes its own moment of expiry", async (t) => {
  const [first, second] = ["2026-12-01T00:00:00.000001Z", "2099-12-31T23:59:59.999999Z"];
  const moments = [first, null, second, undefined];
  const secrets = await Promise.all(
    moments.map((expires_at) =>
      insert(write(), newUid(), { ...content(), ...(expires_at !== undefined && { expires_at }) }),
    ),
  );
  t.match(
    secrets,
    [first, null, second, null].map((expires_at) => ({ version: 1, expires_at })),
  );
  const updates = [undefined, first, null, second];
  const replaced = await Promise.all(
    secrets.map((present, n) =>
      writes.replace({
        ...write(),
        present: present as SecretReceiptRow,
        content: { ...content(), expires_at: updates[n] },
      }),
    ),
  );
  t.match(
    replaced,
    [first, first, null, second].map((expires_at) => ({ version: 2, expires_at })),
  );
  await left();
});

await t.test("a write that times out on a locked secret writes nothing, and the others succeed", async (t) => {
  const [held, free] = [await made(), await made()];
  const wanted = newUid();
  const holder = new pg.Client({ connectionString: postgres.url, options: `-c search_path=${schema}` });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query("BEGIN");
  await holder.query("SELECT FROM secrets WHERE uid = $1 FOR UPDATE", [held.uid]);
  await holder.query(
    `INSERT INTO secrets SELECT (jsonb_populate_record(s, jsonb_build_object('uid', $1::text))).* FROM secrets s
     WHERE uid = $2`,
    [wanted, free.uid],
  );
  await left();
  const replace = (present: SecretReceiptRow) => writes.replace({ ...write(), present, content: content() });
  t.match(await Promise.all([replace(held), replace(free)]), [null, { uid: free.uid }]);
  const other = newUid();
  t.match(await Promise.all([insert(write(), other), insert(write(), wanted)]), [{ uid: other }, null]);
  t.equal((await left()).length, 4);
  await holder.query("COMMIT");
  t.match(await Promise.all([replace(held), insert(write(), wanted)]), [{ uid: held.uid }, "taken"]);
});
