import { randomUUID } from "node:crypto";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { call } from "./support/call.ts";
import { execute } from "./support/held-vault.ts";
import { startVaults } from "./support/service.ts";
import { newRecord, newVault, sealed } from "./support/vaults.ts";

const postgres = await testPostgres(t, { own: true });
const service = await startVaults(t, {}, { postgres });
const { people, listeners, nats, redis } = service;
const owner = await people.add({ orgId: randomUUID(), role: "owner" });
const vault = await newVault(service, owner);
const record = await newRecord(service, owner, vault.id);
const path = `/api/vaults/${vault.id}/records`;
const content = () => ({ type: "login", encrypted_data: sealed() });
const read = (headers = {}) => call(service, owner, "GET", `${path}/${record.id}`, { headers });
const make = () => call(service, owner, "POST", path, { body: content() });

await t.test("without NATS reads and writes continue; audit records and events arrive when it is back", async (t) => {
  await nats.kill();
  t.equal((await read({ "x-request-id": "without-nats" })).status, 200);
  const made = await make();
  t.equal(made.status, 201);
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  const headers = { "x-coffer-org": randomUUID() };
  const unknown = await call(service, owner, "POST", "/api/vaults", { body, headers });
  t.match(unknown, { status: 503, body: { error: "unavailable" } }, "an organization that needs auth-sm");
  await nats.start();
  await listeners.record("the read", ({ request }) => request.id === "without-nats");
  await listeners.record("the creation", ({ target }) => target.id === made.body.id);
  // A device that missed events catches up by itself. The events are sent nevertheless.
  await until("an empty outbox", async () => (await execute(service, "SELECT FROM vaults.outbox")).length === 0);
  t.equal(listeners.audit.filter(({ request }) => request.id === "without-nats").length, 1);
});

await t.test("without Redis everything works", async (t) => {
  await redis.kill();
  t.equal((await read()).status, 200);
  t.equal((await make()).status, 201);
  await redis.start();
});

await t.test("without Postgres every response is 503 with Retry-After, and nothing needs a restart", async (t) => {
  await postgres.kill();
  for (const attempt of [
    read(),
    make(),
    call(service, owner, "GET", "/api/vaults"),
    call(service, owner, "GET", path),
  ]) {
    const answer = await attempt;
    t.match(answer, { status: 503, body: { error: "unavailable" } });
    t.match(answer.headers.get("retry-after"), /^\d+$/);
  }
  await postgres.start();
  await until("reads work again", async () => (await read()).status === 200);
  t.equal((await make()).status, 201);
});

await t.test("writes acknowledged while Postgres is killed are stored, audited and pushed", async (t) => {
  const acknowledged: string[] = [];
  let writing = true;
  const writer = async (): Promise<void> => {
    while (writing) {
      const { status, body } = await make();
      if (status === 201) acknowledged.push(body.id);
      else t.equal(status, 503);
    }
  };
  const writers = Promise.all([writer(), writer(), writer()]);
  for (let kills = 1; kills <= 2; kills += 1) {
    const before = acknowledged.length;
    await until("writes are acknowledged", () => acknowledged.length >= before + 20);
    await postgres.kill();
    await postgres.start();
  }
  const before = acknowledged.length;
  await until("writes are acknowledged again", () => acknowledged.length >= before + 20);
  writing = false;
  await writers;
  const { body } = await call(service, owner, "GET", path);
  const stored = body.data.map(({ id }) => id);
  t.strictSame(
    acknowledged.filter((id) => !stored.includes(id)),
    [],
  );
  await until("each write is audited and published", () => {
    const recorded = new Set(
      listeners.audit.filter(({ action }) => action === "record.created").map(({ target }) => target.id),
    );
    const published = new Set(listeners.records.flatMap(({ changes }) => changes.map(({ record_id }) => record_id)));
    return stored.every((id) => recorded.has(id)) && acknowledged.every((id) => published.has(id));
  });
  const creations = listeners.audit.filter(({ action }) => action === "record.created").map(({ target }) => target.id);
  t.equal(creations.length, new Set(creations).size, "and once");
});
