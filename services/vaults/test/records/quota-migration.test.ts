import { randomUUID } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { outboxMigrations } from "@coffer/outbox";
import { migrate } from "@coffer/postgres";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { migrateService, schema } from "../../src/migrate.ts";

const folder = new URL("../../src/migrations/", import.meta.url);

await t.test("the migration counts existing records for the first manager of each vault", async (t) => {
  const { url } = await testPostgres(t);
  const names = (await readdir(folder)).filter((name) => name < "0007").sort();
  const read = async (name: string) => ({ name, text: await readFile(new URL(name, folder), "utf8") });
  await migrate({ url, schema, packages: { outbox: outboxMigrations }, files: await Promise.all(names.map(read)) });
  const client = new pg.Client({ connectionString: url, options: "-c search_path=vaults" });
  await client.connect();
  t.teardown(() => client.end());
  const [first, second, reader] = [randomUUID(), randomUUID(), randomUUID()];
  const vaultIds = [randomUUID(), randomUUID(), randomUUID()];
  await client.query(
    `INSERT INTO vaults (id, name, type, created_at, updated_at)
     SELECT id, 'Vault', 'shared', now(), now() FROM unnest($1::uuid[]) AS v (id)`,
    [vaultIds],
  );
  const addMember = (vaultId: unknown, userId: string, permission: string, minutes: number) =>
    client.query(
      `INSERT INTO vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
       VALUES ($1, $2, $3, 'QUJD', 1, now() - make_interval(mins => $4))`,
      [vaultId, userId, permission, minutes],
    );
  await addMember(vaultIds[0], first, "manage", 2);
  await addMember(vaultIds[0], second, "manage", 1);
  await addMember(vaultIds[0], reader, "read", 3);
  await addMember(vaultIds[1], first, "manage", 1);
  await addMember(vaultIds[2], second, "manage", 1);
  const fill = (vaultId: unknown, count: number) =>
    client.query(
      `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
       SELECT $1, gen_random_uuid(), 'login', repeat('QUJD', n), now(), now() FROM generate_series(1, $2::integer) AS n`,
      [vaultId, count],
    );
  await fill(vaultIds[0], 10);
  await fill(vaultIds[1], 3);
  await fill(vaultIds[2], 2);
  await client.query(
    `INSERT INTO staged_records SELECT vault_id, $1, $2, id, updated_at, 'QUJDQUJD', now() FROM records WHERE vault_id = $3`,
    [randomUUID(), second, vaultIds[2]],
  );
  t.match(await migrateService({ url }), ["usage/0001_usage.sql", "0007_usage.sql"]);
  const { rows } = await client.query(
    `SELECT owner, kind, sum(items)::integer AS items, sum(bytes)::integer AS bytes FROM usage
     GROUP BY owner, kind ORDER BY kind, items DESC`,
  );
  t.same(rows, [
    { owner: first, kind: "records", items: 13, bytes: 4 * (55 + 6) },
    { owner: second, kind: "records", items: 2, bytes: 4 * 3 },
    { owner: second, kind: "staged", items: 0, bytes: 16 },
  ]);
});
