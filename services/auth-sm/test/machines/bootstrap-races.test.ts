import { randomUUID } from "node:crypto";
import pg from "pg";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { createFolder, createToken, newKeyPair } from "../support/machines.ts";
import { execute } from "../support/members.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// A bootstrap beside what deletes the things that it refers to: another connection holds what makes
// them meet.

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const client = new pg.Client({ connectionString: service.postgres.url });
await client.connect();
t.teardown(() => client.end());

const spend = (token: string, clientId?: string) =>
  call(service, "POST", "/api/sm/v1/bootstrap", {
    body: { token, public_key: newKeyPair().spki, ...(clientId === undefined ? {} : { client_id: clientId }) },
  });

/** Resolves when so many of the service's transactions wait for a lock. */
const blocked = (count: number): Promise<boolean> =>
  until(`${count} wait`, async () => {
    const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return (await execute(service, text)).length === count;
  });

await t.test("a token is spent while one of its folders is deleted: its client has the others", async (t) => {
  const [kept, deleted] = [await createFolder(service, owner), await createFolder(service, owner)];
  const { token } = await createToken(
    service,
    owner,
    [kept, deleted].map((folder_id) => ({ folder_id, permission: "read", encrypted_folder_key: sealed() })),
  );
  await client.query("BEGIN");
  await client.query("DELETE FROM auth_sm.folders WHERE id = $1", [deleted]);
  const spending = spend(token);
  await blocked(1);
  await client.query("COMMIT");
  const { status, body } = await spending;
  t.equal(status, 200);
  t.same(
    body.folders.map(({ id }) => id),
    [kept],
  );
  t.same(Object.keys(body.encrypted_folder_keys), [kept]);
});

await t.test(
  "a token is spent while its application is deleted: neither waits for the other in a circle",
  async (t) => {
    const { token, applicationId } = await createToken(service, owner, []);
    const clientId = randomUUID();
    // A bootstrap with the same id waits for this transaction, and locks its token meanwhile.
    await client.query("BEGIN");
    await client.query(
      `INSERT INTO auth_sm.clients (id, org_id, name, public_key, created_at)
     SELECT $1, org_id, '', '', now() FROM auth_sm.applications WHERE id = $2`,
      [clientId, applicationId],
    );
    const spending = spend(token, clientId);
    await blocked(1);
    const removing = call(service, "DELETE", `/api/org/applications/${applicationId}`, { token: owner.token });
    await blocked(2);
    await client.query("ROLLBACK");
    t.equal((await spending).status, 200);
    t.equal((await removing).status, 204);
    const { rows } = await client.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    t.same(rows, [{ deadlocks: "0" }]);
  },
);
