import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, type Machine, secretBody } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { sealed } from "../support/people.ts";
import { keyVersionOf, rotate, rotationOf, sealedWith } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const replica = await service.replica();
const { owner, member } = await startCompany(service);

/** Makes each insertion into, or update of, a table take its time. */
const slowDown = async (table: string, when: "INSERT" | "UPDATE", seconds: number): Promise<void> => {
  await execute(
    service,
    `CREATE FUNCTION auth_sm.dawdle_${table}() RETURNS trigger LANGUAGE plpgsql
     AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NEW; END $$`,
  );
  await execute(
    service,
    `CREATE TRIGGER dawdle BEFORE ${when} ON auth_sm.${table} FOR EACH ROW EXECUTE FUNCTION auth_sm.dawdle_${table}()`,
  );
};

/**
 * A machine that writes like an honest client: with its present key, until a 409 announces another
 * one.
 */
function createWriter(at: { url: string }, machine: Machine, folderId: string, acknowledged: Map<string, string>) {
  let known = 1;
  let uid: string | undefined;
  const refused: number[] = [];
  return {
    refused,
    async write() {
      for (;;) {
        const payload = sealed(40);
        const content = { encrypted_payload: payload, wrapped_dek: sealedWith(known), key_version: known };
        const [method, path] = uid === undefined ? ["POST", "/secrets"] : ["PUT", `/secrets/${uid}`];
        const answer = await ask(at, machine, method, path, { body: secretBody(folderId, content) });
        if (answer.status < 300) {
          acknowledged.set(answer.body.uid, payload);
          uid = Math.random() < 0.4 ? undefined : answer.body.uid;
          return;
        }
        refused.push(answer.status);
        known = (await ask(at, machine, "GET", "/folders")).body.data[0]?.key_version ?? 0;
      }
    },
  };
}

await t.test(
  "while the key is rotated no write is lost, and in the end all are sealed under the present key",
  async (t) => {
    const [rounds, writesEach] = [6, 6];
    const id = await createFolder(service, owner);
    /** The last payload that was acknowledged, by uid. */
    const acknowledged = new Map<string, string>();
    const writers = await Promise.all(
      [service, replica, service, replica].map(async (at) =>
        createWriter(
          at,
          await createMachine(service, owner, [{ folder_id: id, permission: "write" }]),
          id,
          acknowledged,
        ),
      ),
    );
    // A rotation is nearly done for a while: writes of the same moment are not to slip in.
    await slowDown("folders", "UPDATE", 0.1);
    const outcomes: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const writing = writers.map(async (writer) => {
        for (let count = 0; count < writesEach; count += 1) await writer.write();
      });
      while (outcomes.filter((status) => status === 200).length < round) {
        outcomes.push((await rotate(service, owner, id, await rotationOf(service, owner, id))).status);
      }
      await Promise.all(writing);
      const stored = await call(service, "GET", `/api/org/folders/${id}/secrets`, { token: owner.token });
      t.strictSame(
        new Map(stored.body.data.map(({ uid, data_encrypted }) => [uid, data_encrypted])),
        acknowledged,
        `${acknowledged.size} secrets`,
      );
      const used = stored.body.data.flatMap((secret) => [secret.key_version, keyVersionOf(secret.wrapped_dek)]);
      t.strictSame([...new Set(used)], [round + 1]);
    }
    t.ok(
      outcomes.every((status) => [200, 409].includes(status)),
      outcomes.join(" "),
    );
    const refused = writers.flatMap((writer) => writer.refused);
    t.ok(refused.length > 0 && refused.every((status) => status === 409), "refused for an older key only");
  },
);

await t.test("a secret sealed with the previous key is not written", async (t) => {
  const id = await createFolder(service, owner);
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  const made = await ask(service, machine, "POST", "/secrets", { body: secretBody(id) });
  await rotate(service, owner, id, await rotationOf(service, owner, id));
  const write = (key_version: number, headers: Record<string, string> = {}) => {
    const body = secretBody(id, { wrapped_dek: sealedWith(key_version), key_version });
    return ask(service, machine, "PUT", `/secrets/${made.body.uid}`, { body, headers });
  };
  t.equal((await write(1)).status, 409);
  t.equal((await write(2, { "if-match": '"1"' })).status, 412, "the version before");
  t.equal((await write(2, { "if-match": '"2"' })).status, 200);
});

await t.test("endless overlapping writers delay neither a rotation nor a deletion", async (t) => {
  const id = await createFolder(service, owner);
  await share(service, id, member, "manage");
  const machine = await createMachine(service, owner, [{ folder_id: id, permission: "write" }]);
  const database = new pg.Client({ connectionString: service.postgres.url });
  await database.connect();
  t.teardown(() => database.end());
  // With several of them there is always one under way.
  await slowDown("secrets", "INSERT", 0.2);
  let writing = true;
  const replicas = [service, replica, await service.replica()];
  const writers = Array.from({ length: 12 }, async (_, index) => {
    const at = replicas[index % replicas.length] ?? service;
    while (writing) await ask(at, machine, "POST", "/secrets", { body: secretBody(id) });
  });
  await until("they overlap", async () => {
    const { rowCount } = await database.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
    );
    return (rowCount ?? 0) > 3;
  });
  // Never the folder as it is: what is asked is whether its turn comes, to be told so.
  const body = { key_version: 1, encrypted_keys: { users: [], clients: [] }, secrets: [] };
  for (let round = 0; round < 3; round += 1) t.equal((await rotate(service, owner, id, body)).status, 409);
  const removed = await call(service, "DELETE", `/api/org/folders/${id}?force=true`, { token: member.token });
  t.equal(removed.status, 204);
  writing = false;
  await Promise.all(writers);
});
