import pg from "pg";
import t from "tap";
import { testPostgres } from "@coffer/testkit";
import { findBlocking } from "../../../../packages/postgres/test/find-blocking.ts";
import { readMigrations } from "../../../../packages/postgres/src/migrations.ts";
import * as authSm from "../../../../services/auth-sm/src/migrate.ts";
import * as billingWebhook from "../../../../services/billing-webhook/src/migrate.ts";
import * as siemForwarder from "../../../../services/siem-forwarder/src/migrate.ts";
import * as vaults from "../../../../services/vaults/src/migrate.ts";

// An upgrade while the former version serves: no migration may make the writes of a large table wait.

/** Older than the first release: no installation with large tables applies them. No line is added. */
const beforeTheFirstRelease: Record<string, string[]> = {
  auth_sm: [
    "0002_membership_versions.sql: rewrites memberships",
    "0008_usage.sql: reads every row of secrets while writes wait",
  ],
  billing_webhook: [],
  siem_forwarder: ["0004_audit_groups.sql: reads every row of audit_records while writes wait"],
  vaults: [
    "0002_removed_vaults.sql: reads every row of deleted_vaults while writes wait",
    "0007_usage.sql: reads every row of records while writes wait",
    "0007_usage.sql: reads every row of staged_records while writes wait",
    "0007_usage.sql: reads every row of vault_members while writes wait",
  ],
};

for (const { schema, migrations } of [authSm, billingWebhook, siemForwarder, vaults])
  await t.test(`no migration of ${schema} reads or rewrites a table while its writes wait`, async (t) => {
    const { url } = await testPostgres(t);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`create schema ${schema}`);
      await client.query(`set search_path = ${schema}`);
      t.same(await findBlocking(client, schema, await readMigrations(migrations)), beforeTheFirstRelease[schema]);
    } finally {
      await client.end();
    }
  });
