import { type TestScope, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "../support/machines.ts";
import { register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const update = { encrypted_payload: sealed(), wrapped_dek: sealed() };

/** What a long change of a folder (its rotation, its deletion) does: the row stays locked until `end`. */
async function changing(t: TestScope, folderId: string, statement?: string): Promise<{ end: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: service.postgres.url, options: "-c search_path=auth_sm" });
  await client.connect();
  t.teardown(() => client.end());
  await client.query("BEGIN");
  await client.query("SELECT FROM folders WHERE id = $1 FOR UPDATE", [folderId]);
  if (statement !== undefined) await client.query(statement, [folderId]);
  return {
    end: async () => {
      await client.query("COMMIT");
    },
  };
}

/** The answer, which is not there before `end`. */
async function during<Answer>(answer: Promise<Answer>, end: () => Promise<void>): Promise<Answer> {
  // Other requests are answered meanwhile, so that the write had its time.
  const others = async (): Promise<string> => {
    for (let reads = 0; reads < 5; reads += 1) await ask(service, machine, "GET", "/secrets");
    return "others";
  };
  const first = await Promise.race([answer.then(() => "the write"), others()]);
  if (first !== "others") throw new Error("the write did not wait for the folder");
  await end();
  return answer;
}

await t.test("of many updates at the same time each is a version of its own, and on record", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(service, machine, "PUT", `/secrets/${uid}`, { body: update })),
  );
  const versions = answers.map(({ body }) => body.version).sort((a, b) => a - b);
  t.strictSame(
    versions,
    Array.from({ length: 20 }, (_, index) => index + 2),
  );
  const recorded = () =>
    service.observer.records.filter((each) => each.action === "secret.updated" && each.target.id === uid);
  await until("every update is on record", () => recorded().length === 20);
  t.strictSame(
    recorded()
      .map(({ changes }) => Number(changes?.["version"]))
      .sort((a, b) => a - b),
    versions,
  );
});

await t.test("writes wait while a folder's key changes, and the new key decides on them", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const { end } = await changing(t, folder, "UPDATE folders SET key_version = 2 WHERE id = $1");
  const [created, updated, unversioned] = await during(
    Promise.all([
      ask(service, machine, "POST", "/secrets", { body: secretBody(folder, { key_version: 1 }) }),
      ask(service, machine, "PUT", `/secrets/${uid}`, { body: { ...update, key_version: 1 } }),
      ask(service, machine, "PUT", `/secrets/${uid}`, { body: update }),
    ]),
    end,
  );
  t.match(created, { status: 409, body: { error: "conflict" } });
  t.match(updated, { status: 409, body: { error: "conflict" } });
  t.match(unversioned, { status: 200, body: { key_version: 2 } });
});

await t.test("while a folder is deleted writes wait, and then find no grant", async (t) => {
  const uid = await createSecret(service, machine, folder);
  const { end } = await changing(t, folder, "DELETE FROM folders WHERE id = $1");
  const [created, updated, removed] = await during(
    Promise.all([
      ask(service, machine, "POST", "/secrets", { body: secretBody(folder) }),
      ask(service, machine, "PUT", `/secrets/${uid}`, { body: update }),
      ask(service, machine, "DELETE", `/secrets/${uid}`),
    ]),
    end,
  );
  t.match(created, { status: 403, body: { error: "access_denied" } });
  t.match(updated, { status: 404, body: { error: "secret_not_found" } });
  t.match(removed, { status: 404, body: { error: "secret_not_found" } });
});

await t.test("a folder that stays locked is 503, and does not hold up other folders", async (t) => {
  const other = await createFolder(service, owner, "other");
  const locked = await createFolder(service, owner, "locked");
  const both = await createMachine(service, owner, [
    { folder_id: other, permission: "write" },
    { folder_id: locked, permission: "write" },
  ]);
  const { end } = await changing(t, locked);
  const stuck = Promise.all(
    Array.from({ length: 12 }, () => ask(service, both, "POST", "/secrets", { body: secretBody(locked) })),
  );
  const free = await ask(service, both, "POST", "/secrets", { body: secretBody(other) });
  t.equal(free.status, 201);
  for (const { status, headers } of await stuck) {
    t.equal(status, 503);
    t.ok(headers.get("retry-after"));
  }
  await end();
  t.equal((await ask(service, both, "POST", "/secrets", { body: secretBody(locked) })).status, 201);
  t.equal(
    (await call(service, "GET", `/api/org/folders/${locked}/secrets`, { token: owner.token })).body.data.length,
    1,
  );
});
