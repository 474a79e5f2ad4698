import { randomUUID } from "node:crypto";
import { permissions } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import { auditAppend, type AuditDraft, auditSchemaName, recordsChanged } from "@coffer/events";
import { createDatabase } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { requireVault } from "../../src/access/vault.ts";
import { migrateService } from "../../src/migrate.ts";
import { createRecordWrites } from "../../src/store/records/record-writes.ts";
import { execute } from "../support/held-vault.ts";
import { sealed } from "../support/vaults.ts";

// Concurrent writes that go in one statement, without the service around it. Writes of one turn of the
// event loop are coalesced.

const postgres = await testPostgres(t);
await migrateService(postgres);
const database = createDatabase({
  ...postgres,
  schema: "vaults",
  telemetry: createTelemetry({ service: "vaults", level: "silent" }),
});
t.teardown(() => database.close());
const writes = createRecordWrites(database);
const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  execute<Row & Record<string, unknown>>({ postgres }, text, values);

const orgId = randomUUID();
const [writer, reader, hidden, stranger] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
/** A vault that everyone but the stranger has; it is invisible to one member. */
async function newVault(org: string | null): Promise<string> {
  const id = randomUUID();
  await rows(
    `INSERT INTO vaults.vaults (id, org_id, name, type, created_at, updated_at)
     VALUES ($1, $2, 'Vault', 'shared', now(), now())`,
    [id, org],
  );
  for (const [userId, permission] of [
    [writer, "write"],
    [reader, "read"],
    [hidden, "manage"],
  ])
    await rows(
      `INSERT INTO vaults.vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
       VALUES ($1, $2, $3, 'key', 1, now())`,
      [id, userId, permission],
    );
  for (const userId of [writer, reader])
    await rows(
      `INSERT INTO vaults.sights (user_id, vault_id, org_id, began_snapshot)
       VALUES ($1, $2, $3, pg_current_snapshot())`,
      [userId, id, org],
    );
  return id;
}
const shared = await newVault(orgId);
const personal = await newVault(null);

const content = () => ({ type: "login", encrypted_data: sealed() });
const now = new Date("2026-11-20T10:00:00.000Z");
function write(over: { userId?: string; vaultId?: string; id?: string; now?: Date } = {}) {
  const audit: AuditDraft = {
    schema: auditSchemaName,
    id: randomUUID(),
    time: now.toISOString(),
    org_id: null,
    action: "record.created",
    outcome: "success",
    actor: { type: "user", id: writer },
    target: { type: "record", id: null },
    source: { ip: "192.0.2.1", user_agent: 'a "quoted\\" agent, {of} many' },
    request: { id: "together", method: "POST", route: "/", status: 201 },
  };
  return { userId: writer, vaultId: shared, id: randomUUID(), eventId: randomUUID(), audit, now, ...over };
}
type Write = ReturnType<typeof write>;

const made = async (over: Parameters<typeof write>[0] = {}) => {
  const written = { ...write(over), content: content() };
  await writes.insert(written);
  return written;
};

interface Message {
  subject: string;
  id: string;
  payload: unknown;
}
/** Returns and deletes the outbox messages. */
const left = () => rows<Message>("DELETE FROM vaults.outbox RETURNING subject, id, payload");
/** The outbox messages that a write must leave. */
const messages = ({ eventId, audit, id, vaultId }: Write, action: string, updated_at: string): Message[] => [
  {
    subject: recordsChanged.subject,
    id: eventId,
    payload: { vault_id: vaultId, changes: [{ action, record_id: id, updated_at }] },
  },
  {
    subject: auditAppend.subject,
    id: audit.id,
    payload: [{ ...audit, org_id: vaultId === shared ? orgId : null }],
  },
];
const byId = (a: Message, b: Message): number => (a.id < b.id ? -1 : 1);
const moment = "2026-11-20T10:00:00.000000Z";

await t.test("the statement and access/ let the same people write", async (t) => {
  const userId = randomUUID();
  let allowed = 0;
  for (const permission of [null, ...permissions])
    for (const seen of [true, false]) {
      await rows("DELETE FROM vaults.vault_members WHERE vault_id = $1 AND user_id = $2", [shared, userId]);
      if (permission !== null)
        await rows(
          `INSERT INTO vaults.vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
           VALUES ($1, $2, $3, 'key', 1, now())`,
          [shared, userId, permission],
        );
      await rows("DELETE FROM vaults.sights WHERE vault_id = $1 AND user_id = $2", [shared, userId]);
      if (seen)
        await rows(
          `INSERT INTO vaults.sights (user_id, vault_id, org_id, began_snapshot)
           VALUES ($1, $2, $3, pg_current_snapshot())`,
          [userId, shared, orgId],
        );
      const caller: User = { kind: "user", userId, sessionId: randomUUID(), orgId };
      const expected = await requireVault(database.pool, caller, shared, "write").then(
        () => true,
        (error: unknown) => {
          if (error instanceof ServiceError && error.status < 500) return false;
          throw error;
        },
      );
      const written = await writes.insert({ ...write({ userId }), content: content() });
      t.equal(written !== null, expected, `${permission}, ${seen ? "seen" : "not seen"}`);
      if (expected) allowed += 1;
    }
  t.equal(allowed, 2, "write and manage, while the person sees the vault");
  await left();
});

await t.test("records of one batch are independent, also if another is refused", async (t) => {
  const [taken, gone] = [await made(), await made()];
  await writes.remove({ ...write({ id: gone.id }), expected: undefined });
  await left();
  const done = [write(), write({ vaultId: personal }), write()];
  const refused = [
    write({ userId: reader }),
    write({ userId: hidden }),
    write({ userId: stranger }),
    write({ vaultId: randomUUID() }),
  ];
  const ids = [write({ id: taken.id }), write({ id: gone.id, vaultId: personal })];
  const sent = [...refused, ...done, ...ids].map((each) => ({ ...each, content: content() }));
  const answers = await Promise.all(sent.map((each) => writes.insert(each)));
  const written = { created_at: moment, updated_at: moment };
  t.match(answers, [null, null, null, null, written, written, written, "taken", "taken"]);
  t.same(
    (await left()).sort(byId),
    done.flatMap((each) => messages(each, "record_created", moment)).sort(byId),
    "the messages of those that were made, and of no others",
  );
  const stored = await rows<{ id: string; vault_id: string; encrypted_data: string; x: string }>(
    "SELECT id, vault_id, encrypted_data, x::text FROM vaults.records WHERE id = ANY ($1)",
    [sent.map(({ id }) => id)],
  );
  t.equal(stored.length, done.length + 1, "and that of the id that is taken");
  for (const { id, vaultId, content: expected } of sent.slice(4, 7))
    t.match(
      stored.find((row) => row.id === id),
      { vault_id: vaultId, encrypted_data: expected.encrypted_data },
    );
  t.equal(new Set(stored.filter(({ id }) => id !== taken.id).map(({ x }) => x)).size, 1, "in one transaction");
});

await t.test("of concurrent writes of one record one is done, and the others are retried", async (t) => {
  const id = randomUUID();
  const insert = () => writes.insert({ ...write({ id }), content: content() });
  t.match(await Promise.all([insert(), insert()]), [{ id }, null]);
  t.equal(await insert(), "taken");
  await left();

  const updates = [1, 2, 3].map(() => ({ ...write({ id }), content: content(), expected: undefined }));
  const [update, ...later] = await Promise.all(updates.map((each) => writes.replace(each)));
  t.match(update, { id, updated_at: "2026-11-20T10:00:00.000001Z" });
  t.same(later, [null, null]);
  t.equal((await left()).length, 2);
  const [row] = await rows("SELECT encrypted_data FROM vaults.records WHERE id = $1", [id]);
  t.same(row, { encrypted_data: updates[0]?.content.encrypted_data });

  const remove = () => writes.remove({ ...write({ id }), expected: undefined });
  t.match(await Promise.all([remove(), remove()]), [{ id }, null]);
  t.equal(await remove(), "other");
  t.equal((await left()).length, 2);
});

await t.test("a request with a record of another vault does not block writers there", async (t) => {
  const id = randomUUID();
  const insert = (vaultId: string) => writes.insert({ ...write({ id, vaultId }), content: content() });
  const made = await Promise.all([insert(shared), insert(personal)]);
  t.equal(made.filter((each) => each === "taken").length, 1, "an id is that of one record");
  const [own, other] = made[0] === "taken" ? [personal, shared] : [shared, personal];
  const update = (vaultId: string) =>
    writes.replace({ ...write({ id, vaultId }), content: content(), expected: undefined });
  t.match(await Promise.all([update(other), update(own), update(other)]), ["other", { id }, null]);
  const remove = (vaultId: string) => writes.remove({ ...write({ id, vaultId }), expected: undefined });
  await left();
  t.match(await Promise.all([remove(other), remove(own)]), ["other", { id }]);
  t.equal((await left()).length, 2);
});

await t.test("coalesced updates and deletions each have their own condition", async (t) => {
  const records = await Promise.all([made(), made(), made({ vaultId: personal }), made()]);
  const [one, two, three, four] = records.map(({ id, vaultId }) => ({ id, vaultId })) as [Place, Place, Place, Place];
  await left();
  const before = "2026-11-20T09:00:00.000000Z";
  const replace = (over: Parameters<typeof write>[0], expected?: string) =>
    writes.replace({ ...write(over), content: content(), expected });
  const later = { now: new Date("2026-11-20T11:00:00.000Z") };
  t.match(
    await Promise.all([
      replace({ ...one, ...later }, moment),
      replace({ ...two, ...later }, before),
      replace({ ...three, ...later }),
      replace({ ...four, userId: reader }),
      replace({ id: randomUUID() }),
      replace({ ...three, vaultId: shared, id: randomUUID() }, moment),
    ]),
    [{ updated_at: "2026-11-20T11:00:00.000000Z" }, "other", { id: three.id }, null, "other", "other"],
  );
  t.equal((await left()).length, 4);
  const remove = (over: Parameters<typeof write>[0], expected?: string) => writes.remove({ ...write(over), expected });
  t.match(
    await Promise.all([remove(one, moment), remove(two, moment), remove({ ...three, userId: stranger }), remove(four)]),
    ["other", { id: two.id, updated_at: "2026-11-20T10:00:00.000001Z" }, null, { id: four.id }],
  );
  t.equal((await left()).length, 4);
  const there = await rows<{ id: string }>("SELECT id FROM vaults.records WHERE id = ANY ($1) ORDER BY id", [
    records.map(({ id }) => id),
  ]);
  t.same(
    there.map(({ id }) => id),
    [one.id, three.id].sort(),
  );
});

interface Place {
  id: string;
  vaultId: string;
}

await t.test("a write that times out on a record is not done, the others are", async (t) => {
  const [held, free] = [await made(), await made()];
  const wanted = randomUUID();
  const client = new pg.Client({ connectionString: postgres.url, options: "-c search_path=vaults" });
  await client.connect();
  t.teardown(() => client.end());
  await client.query("BEGIN");
  await client.query("SELECT FROM records WHERE id = $1 FOR UPDATE", [held.id]);
  await client.query(
    `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
     VALUES ($1, $2, 'login', 'AAAA', now(), now())`,
    [shared, wanted],
  );
  await left();
  const replace = ({ id }: Write) => writes.replace({ ...write({ id }), content: content(), expected: undefined });
  t.match(await Promise.all([replace(held), replace(free)]), [null, { id: free.id }]);
  const insert = (id: string) => writes.insert({ ...write({ id }), content: content() });
  const other = randomUUID();
  t.match(await Promise.all([insert(other), insert(wanted)]), [{ id: other }, null]);
  t.equal((await left()).length, 4);
  await client.query("COMMIT");
  t.match(await Promise.all([replace(held), insert(wanted)]), [{ id: held.id }, "taken"]);
});
