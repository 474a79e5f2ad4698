import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { createFolder, createMachine, createSecret, createToken, newKeyPair } from "../support/machines.ts";
import { execute, join, share, startCompany } from "../support/members.ts";
import { register, sealed } from "../support/people.ts";
import { rotate, rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// Rotations beside other things that happen to a folder at the same moment.

const service = await startAuthSm(t);
const { owner, orgId } = await startCompany(service);
const database = new pg.Client({ connectionString: service.postgres.url });
await database.connect();
t.teardown(() => database.end());
const waiting = async (count: number): Promise<boolean> => {
  const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await execute(service, text)).length === count;
};
const keyVersion = async (folderId: string): Promise<number> => {
  const rows = await execute(service, "SELECT key_version FROM auth_sm.folders WHERE id = $1", [folderId]);
  return (rows as { key_version: number }[])[0]?.key_version ?? 0;
};

await t.test("of two rotations at once, one is done", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const id = await createFolder(service, owner);
    const body = await rotationOf(service, owner, id);
    const answers = await Promise.all([rotate(service, owner, id, body), rotate(service, owner, id, body)]);
    t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
    t.equal(await keyVersion(id), 2);
  }
});

await t.test("a rotation for which the disk is full on its way leaves everything as it was", async (t) => {
  const id = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  await createSecret(service, machine, id);
  await createToken(service, owner, [{ folder_id: id, permission: "read", encrypted_folder_key: sealed() }]);
  const state = () =>
    Promise.all(
      [
        "SELECT * FROM auth_sm.folders WHERE id = $1",
        "SELECT * FROM auth_sm.folder_members WHERE folder_id = $1",
        "SELECT * FROM auth_sm.client_folders WHERE folder_id = $1",
        "SELECT * FROM auth_sm.access_token_folders WHERE folder_id = $1 ORDER BY token_id",
        "SELECT * FROM auth_sm.secrets WHERE folder_id = $1",
      ].map((text) => execute(service, text, [id])),
    );
  const before = await state();
  const body = await rotationOf(service, owner, id);
  await execute(
    service,
    "CREATE FUNCTION auth_sm.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full' USING ERRCODE = 'disk_full'; END $$",
  );
  for (const table of ["secrets", "folder_members", "client_folders", "access_token_folders", "folders", "outbox"]) {
    const at = table === "outbox" ? "BEFORE INSERT" : "BEFORE UPDATE";
    await execute(
      service,
      `CREATE TRIGGER fail ${at} ON auth_sm.${table} FOR EACH ROW EXECUTE FUNCTION auth_sm.fail()`,
    );
    t.equal((await rotate(service, owner, id, body)).status, 503, table);
    await execute(service, `DROP TRIGGER fail ON auth_sm.${table}`);
    t.strictSame(await state(), before, table);
  }
  t.equal((await rotate(service, owner, id, body)).status, 200);
});

await t.test("a token that is spent while the key is rotated is given no older key", async (t) => {
  const id = await createFolder(service, owner);
  const { token } = await createToken(service, owner, [
    { folder_id: id, permission: "read", encrypted_folder_key: sealed() },
  ]);
  const body = await rotationOf(service, owner, id);
  // Holds the rotation up once it has the folder, and the bootstrap behind it.
  await database.query("BEGIN");
  await database.query("SELECT FROM auth_sm.access_token_folders WHERE folder_id = $1 FOR UPDATE", [id]);
  const rotation = rotate(service, owner, id, body);
  await until("the rotation waits", () => waiting(1));
  const bootstrap = call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } });
  await until("the bootstrap waits", () => waiting(2));
  await database.query("COMMIT");
  t.equal((await rotation).status, 200);
  const { status, body: given } = await bootstrap;
  t.equal(status, 200);
  t.strictSame(given.encrypted_folder_keys, {});
  t.match(given.folders, [{ id, permission: "read" }]);
});

await t.test("a holder who is removed meanwhile gets no key, and the rotation says so", async (t) => {
  const id = await createFolder(service, owner);
  const leaver = await register(service);
  await join(service, orgId, leaver, "member");
  await share(service, id, leaver, "write");
  const body = await rotationOf(service, owner, id);
  await database.query("BEGIN");
  await database.query("DELETE FROM auth_sm.folder_members WHERE folder_id = $1 AND user_id = $2", [id, leaver.userId]);
  const rotation = rotate(service, owner, id, body);
  await until("the rotation waits", () => waiting(1));
  await database.query("COMMIT");
  t.equal((await rotation).status, 409);
  t.equal(await keyVersion(id), 1);
  t.equal((await rotate(service, owner, id, await rotationOf(service, owner, id))).status, 200);
});
