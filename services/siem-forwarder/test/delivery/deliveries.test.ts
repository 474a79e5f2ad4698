import { randomUUID } from "node:crypto";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { migrateService, schema } from "../../src/migrate.ts";
import { createDeliveryStore } from "../../src/store/deliveries.ts";

const { url } = await testPostgres(t);
await migrateService({ url });
const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
const database = createDatabase({ url, schema, telemetry, settings: { synchronous_commit: "on" } });
t.teardown(() => database.close());
const store = createDeliveryStore(database);
const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
await client.connect();
t.teardown(() => client.end());

await t.test("only the position is stored without waiting for the disk", async (t) => {
  const [id, replicaId] = [randomUUID(), randomUUID()];
  await client.query(
    `INSERT INTO siem_endpoints
       (id, org_id, format, url, credentials, enabled, created_at, updated_at, position, lease_holder, lease_until)
     VALUES ($1, $1, 'hec', 'https://siem.example', '', true, now(), now(), 0, $2, now() + interval '1 day')`,
    [id, replicaId],
  );
  // A trigger sees the setting with which its transaction commits.
  await client.query(
    `CREATE TABLE commits (setting text);
     CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO ${schema}.commits VALUES (current_setting('synchronous_commit')); RETURN NULL;
     END $$;
     CREATE TRIGGER note_commit AFTER UPDATE ON siem_endpoints EXECUTE FUNCTION note_commit()`,
  );
  const at = new Date().toISOString();
  const result = { id, replicaId, position: 1, parked: 0, at, status: 200, error: null };
  const failure = { ...result, seenUpdatedAt: at, failingSince: at, attempts: 1, nextAttemptAt: at };
  const setting = database.preparedWrite<{ setting: string }>(
    "setting",
    "SELECT current_setting('synchronous_commit') AS setting",
  );
  await Promise.all(Array.from({ length: 20 }, () => store.succeed(result)));
  const settings = await Promise.all(Array.from({ length: 20 }, () => setting([])));
  t.same(new Set(settings.flat().map((row) => row.setting)), new Set(["on"]), "on the same connections");
  await store.fail(failure);
  const { rows } = await client.query<{ setting: string; count: number }>(
    "SELECT setting, count(*)::int AS count FROM commits GROUP BY setting ORDER BY setting",
  );
  t.same(rows, [
    { setting: "off", count: 20 },
    { setting: "on", count: 1 },
  ]);
});

await t.test("a backlog is read in order, up to a number of records and of bytes", async (t) => {
  const [id, chainId] = [randomUUID(), randomUUID()];
  const count = 320;
  await client.query(
    `INSERT INTO audit_records (chain_id, seq, id, time, action, outcome, actor_id, record)
     SELECT $1::uuid, n, gen_random_uuid(), '2026-11-20T10:00:00.5Z',
       CASE WHEN n % 100 = 0 THEN 'siem.webhook.delivery.failed' ELSE 'secret.read' END, 'success', NULL,
       json_build_object('n', n, 'target', json_build_object('id', CASE WHEN n = 300 THEN $1::text ELSE $2 END),
         'text', repeat('é', 500))
     FROM generate_series(1, $3::int) AS n`,
    [chainId, id, count],
  );
  const state = { id, org_id: chainId };
  const all = await store.backlog(state, 0, { limit: 500, bytes: 10_000_000 });
  t.same(
    all.map(({ seq, text }) => [seq, (JSON.parse(text) as { n: number }).n]),
    Array.from({ length: count }, (_, at) => [at + 1, at + 1]),
  );
  t.ok(all.every(({ seconds }) => seconds === "1795168800.500000"));
  t.same(
    all.filter(({ isOwn }) => isOwn).map(({ seq }) => seq),
    [100, 200],
    "those about another endpoint are not its own",
  );
  const some = await store.backlog(state, 123, { limit: 77, bytes: 10_000_000 });
  t.same(some, all.slice(123, 200));
  const size = Buffer.byteLength(all[0]?.text ?? "");
  const few = await store.backlog(state, 10, { limit: 500, bytes: size * 60 });
  t.ok(few.length >= 59 && few.length <= 61, `${few.length} records of ${size} bytes`);
  t.same(few, all.slice(10, 10 + few.length));
  t.same((await store.backlog(state, 0, { limit: 500, bytes: 1 })).length, 1, "at least one");
  t.same(await store.backlog(state, count, { limit: 500, bytes: 1 }), []);
  t.same(await store.backlog(state, count, { limit: 500, bytes: 10_000, before: few }), []);
});
