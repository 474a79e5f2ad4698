import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { call } from "./support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "./support/machines.ts";
import { register } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const postgres = await testPostgres(t, { own: true });
const service = await startAuthSm(t, {}, { postgres });
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const uid = await createSecret(service, machine, folder);
const read = (headers = {}) => ask(service, machine, "GET", `/secrets/${uid}`, { headers });
const recordsOf = (requestId: string) => service.observer.records.filter(({ request }) => request.id === requestId);

await t.test("without NATS reads and writes go on, and their audit arrives once when it is back", async (t) => {
  await service.nats.kill();
  t.equal((await read({ "x-request-id": "without-nats" })).status, 200);
  const made = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder) });
  t.equal(made.status, 201);
  await service.nats.start();
  await service.observer.record("the read", ({ request }) => request.id === "without-nats");
  await service.observer.record("the creation", ({ target }) => target.id === made.body.uid);
  t.equal(recordsOf("without-nats").length, 1);
});

await t.test("without Redis everything works", async (t) => {
  await service.redis.kill();
  t.equal((await read()).status, 200);
  t.equal((await ask(service, machine, "POST", "/secrets", { body: secretBody(folder) })).status, 201);
  t.equal((await call(service, "GET", "/api/org", { token: owner.token })).status, 200);
  await service.redis.start();
});

await t.test(
  "without Postgres every answer is 503 with Retry-After, and nothing needs a restart afterwards",
  async (t) => {
    await postgres.kill();
    for (const attempt of [read(), ask(service, machine, "POST", "/secrets", { body: secretBody(folder) })]) {
      const answer = await attempt;
      t.equal(answer.status, 503);
      t.match(answer.body, { error: "unavailable", request_id: /./ });
      t.match(answer.headers.get("retry-after"), /^\d+$/);
    }
    await postgres.start();
    await until("reads work again", async () => (await read()).status === 200);
    const made = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder) });
    t.equal(made.status, 201);
  },
);

await t.test(
  "what was acknowledged while Postgres was killed again and again is there, and on record once",
  async (t) => {
    const acknowledged: string[] = [];
    let writing = true;
    const writer = async (): Promise<void> => {
      while (writing) {
        const { status, body } = await ask(service, machine, "POST", "/secrets", { body: secretBody(folder) });
        if (status === 201) acknowledged.push(body.uid);
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
    const { body } = await ask(service, machine, "GET", "/secrets");
    const stored = new Set(body.data.map((secret) => secret.uid));
    t.strictSame(
      acknowledged.filter((each) => !stored.has(each)),
      [],
      "nothing acknowledged is lost",
    );
    const creations = () => service.observer.records.filter(({ action }) => action === "secret.created");
    await until("every creation is on record", () => {
      const known = new Set(creations().map(({ target }) => target.id));
      return body.data.every((secret) => known.has(secret.uid));
    });
    const counts = new Map<string | null, number>();
    for (const { target } of creations()) counts.set(target.id, (counts.get(target.id) ?? 0) + 1);
    t.strictSame(
      [...counts].filter(([, count]) => count !== 1),
      [],
      "and exactly once",
    );
  },
);
