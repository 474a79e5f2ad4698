import { randomUUID } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { outboxMigrations } from "@coffer/outbox";
import { migrate } from "@coffer/postgres";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { migrateService, schema } from "../../src/migrate.ts";

const folder = new URL("../../src/migrations/", import.meta.url);

await t.test("the migration counts stored data", async (t) => {
  const { url } = await testPostgres(t);
  const names = (await readdir(folder)).filter((name) => name < "0008").sort();
  const read = async (name: string) => ({ name, text: await readFile(new URL(name, folder), "utf8") });
  await migrate({ url, schema, packages: { outbox: outboxMigrations }, files: await Promise.all(names.map(read)) });
  const client = new pg.Client({ connectionString: url, options: "-c search_path=auth_sm" });
  await client.connect();
  t.teardown(() => client.end());
  const orgIds = [randomUUID(), randomUUID(), randomUUID()];
  await client.query(
    `WITH org AS (INSERT INTO orgs SELECT id, 'Example', 'free', now() FROM unnest($1::uuid[]) AS o (id) RETURNING id)
     INSERT INTO folders (id, org_id, name, name_folded, created_at, updated_at)
     SELECT id, id, 'folder', 'folder', now(), now() FROM unnest($1::uuid[]) AS o (id)`,
    [orgIds],
  );
  await client.query(
    `INSERT INTO secrets (org_id, uid, folder_id, record_type, title_encrypted, encrypted_payload, wrapped_dek, fields,
       field_names, key_version, version, created_at, updated_at)
     SELECT $1::uuid, 'uid ' || n, $1::uuid, 'note', 'QUJD', repeat('QUJD', n), 'QUJDQUJD', '{"a": "QUJD"}', '{a}', 1, 1,
       now(), now()
     FROM generate_series(1, $2::integer) AS n`,
    [orgIds[0], 21],
  );
  await client.query("INSERT INTO secrets SELECT (jsonb_populate_record(s, $1)).* FROM secrets s WHERE uid = 'uid 7'", [
    JSON.stringify({ org_id: orgIds[1], folder_id: orgIds[1] }),
  ]);
  t.match(await migrateService({ url }), ["usage/0001_usage.sql", "0008_usage.sql"]);
  const usage = async (): Promise<unknown> =>
    (
      await client.query(
        `SELECT kind, sum(items)::integer AS items, sum(bytes)::integer AS bytes FROM usage GROUP BY owner, kind ORDER BY items`,
      )
    ).rows;
  // Beside the payload: 4 of the title, 8 of the wrapped key, 13 of the fields.
  const each = 4 + 8 + '{"a": "QUJD"}'.length;
  t.same(await usage(), [
    { kind: "secrets", items: 1, bytes: 28 + each },
    { kind: "secrets", items: 21, bytes: 4 * ((21 * 22) / 2) + 21 * each },
  ]);
  await client.query("DELETE FROM folders");
  t.same(await usage(), [
    { kind: "secrets", items: 0, bytes: 0 },
    { kind: "secrets", items: 0, bytes: 0 },
  ]);
});
