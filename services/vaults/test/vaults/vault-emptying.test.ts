import { randomUUID } from "node:crypto";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import t from "tap";
import { migrateService } from "../../src/migrate.ts";
import { emptySweep } from "../../src/vaults/empty.ts";
import { execute } from "../support/held-vault.ts";

// The deletion of records of deleted vaults, batch by batch, without a running service.

const postgres = await testPostgres(t);
await migrateService({ url: postgres.url });
const telemetry = createTelemetry({ service: "vaults", level: "silent" });
const database = createDatabase({ url: postgres.url, schema: "vaults", telemetry });
t.teardown(() => database.close());
const replica = () => emptySweep({ database, now: () => new Date() });
const run = (text: string, values: unknown[] = []) => execute({ postgres }, text, values);

async function addRecord(vaultId: string, id: string): Promise<void> {
  await run(
    `INSERT INTO vaults.records (vault_id, id, type, encrypted_data, created_at, updated_at)
     VALUES ($1, $2, 'login', 'AAAA', now(), now())`,
    [vaultId, id],
  );
}
/** A vault that was deleted some minutes ago, with records left. */
async function deleted({ minutes, records }: { minutes: number; records: number }): Promise<string> {
  const id = randomUUID();
  await run(
    `INSERT INTO vaults.deleted_vaults (id, deleted_at, emptied)
     VALUES ($1, now() - make_interval(mins => $2), false)`,
    [id, minutes],
  );
  await run(
    `INSERT INTO vaults.records (vault_id, id, type, encrypted_data, created_at, updated_at)
     SELECT $1, gen_random_uuid(), 'login', 'AAAA', now(), now() FROM generate_series(1, $2)`,
    [id, records],
  );
  return id;
}
const left = async (vaultId: string): Promise<number> =>
  (await run("SELECT FROM vaults.records WHERE vault_id = $1", [vaultId])).length;
async function isEmptied(vaultId: string): Promise<unknown> {
  return (await run("SELECT emptied FROM vaults.deleted_vaults WHERE id = $1", [vaultId]))[0]?.["emptied"];
}

await t.test("each batch continues after the one before it, in any replica", async (t) => {
  const vaultId = await deleted({ minutes: 1, records: 4_100 });
  const [one, other] = [replica(), replica()];
  t.equal(await one.batch(), true);
  t.equal(await left(vaultId), 2_100);
  // Inserted before the deleted range: shows that this range is not read again.
  await addRecord(vaultId, "00000000-0000-4000-8000-000000000000");
  t.equal(await other.batch(), true);
  t.equal(await left(vaultId), 101);
  t.equal(await isEmptied(vaultId), false);
  t.equal(await one.batch(), true);
  t.equal(await left(vaultId), 1);
  t.equal(await isEmptied(vaultId), true);
  t.equal(await one.batch(), false);
});

await t.test("vaults that cannot be emptied do not block others, and are retried in order", async (t) => {
  const first = await deleted({ minutes: 3, records: 1 });
  const second = await deleted({ minutes: 2, records: 1 });
  const third = await deleted({ minutes: 1, records: 1 });
  await run(
    `CREATE FUNCTION vaults.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.vault_id IN ('${first}', '${second}') THEN RAISE 'not now'; END IF;
       RETURN NEW;
     END $$;
     CREATE TRIGGER stop BEFORE INSERT ON vaults.tombstones FOR EACH ROW EXECUTE FUNCTION vaults.stop()`,
  );
  const sweep = replica();
  await t.rejects(sweep.batch());
  await t.rejects(sweep.batch());
  t.equal(await sweep.batch(), true);
  t.same([await left(first), await left(second), await left(third)], [1, 1, 0]);
  t.equal(await isEmptied(third), true);

  await t.rejects(sweep.batch(), "the first comes again");
  await run(`CREATE OR REPLACE FUNCTION vaults.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NEW.vault_id = '${first}' THEN RAISE 'not now'; END IF;
       RETURN NEW;
     END $$`);
  t.equal(await sweep.batch(), true, "and then the second");
  t.same([await left(first), await left(second)], [1, 0]);
  await run("DROP TRIGGER stop ON vaults.tombstones");
  t.equal(await sweep.batch(), true);
  t.equal(await left(first), 0);
  t.equal(await sweep.batch(), false);
});
