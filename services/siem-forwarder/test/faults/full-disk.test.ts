import { randomUUID } from "node:crypto";
import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import pg from "pg";
import t from "tap";
import { draftsOf } from "../delivery/draft.ts";
import { startForwarder, startStores } from "../forwarder.ts";

// A full disk is what Postgres says of it: reads are answered, a statement that writes fails with
// 53100 (disk_full).

const stores = await startStores(t);
const { people, append, list, listAll, ready } = await startForwarder(t, stores);
const execute = async (text: string): Promise<void> => {
  const client = new pg.Client({ connectionString: stores.postgres.url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
};
const schema = "siem_forwarder";
await execute(
  `CREATE FUNCTION ${schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
   END $$`,
);

await t.test(
  "what cannot be kept is not acknowledged; sent again it is there once, and the chain is whole",
  async (t) => {
    const orgId = randomUUID();
    const owner = await people.add([{ orgId, role: "owner" }]);
    const acknowledged = draftsOf(orgId, 20);
    t.equal(await append(acknowledged), 20);
    // The last statement of an append too: what the ones before it wrote must not stay.
    for (const table of ["audit_chains", "audit_records", "audit_hours"]) {
      const before = await listAll(owner);
      const batch = draftsOf(orgId, 20);
      await execute(
        `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${schema}.${table} EXECUTE FUNCTION ${schema}.full_disk()`,
      );
      await t.rejects(append(batch), { code: "unavailable" }, table);
      const answer = await list(owner);
      t.equal(answer.status, 200, "the audit can be read");
      t.equal(answer.body.head?.seq, before.length, "and has nothing of it");
      t.match(await ready(), { ready: true, degraded: true, checks: { postgres: "disk full" } });
      await execute(`DROP TRIGGER full_disk ON ${schema}.${table}`);
      t.equal(await append([...acknowledged, ...batch]), 20, "without a restart");
    }
    const records = await listAll(owner);
    t.equal(records.length, 80);
    t.match(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), { seq: 80 });
  },
);
