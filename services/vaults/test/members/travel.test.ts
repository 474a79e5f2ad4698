import { randomUUID } from "node:crypto";
import { auditSchemaName, setTravelMode, travelModeOf } from "@coffer/events";
import { createDatabase, sql } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { setPersonsTravelMode } from "../../src/travel/set.ts";
import { call } from "../support/call.ts";
import { execute, whileHolding } from "../support/held-vault.ts";
import { logOut } from "../support/log-out.ts";
import { startVaults } from "../support/service.ts";
import { jwe, newRecord, newVault, sealed, share, travel } from "../support/vaults.ts";

const service = await startVaults(t);
const { clock, people, listeners } = service;
const late = { code: "unavailable" };

async function traveller() {
  const orgId = randomUUID();
  const [person, colleague] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "owner" })];
  const [hidden, safe] = [await newVault(service, person), await newVault(service, person)];
  await call(service, person, "PATCH", `/api/vaults/${safe.id}`, { body: { safe_for_travel: true } });
  await share(service, person, hidden.id, colleague, "manage");
  const record = await newRecord(service, person, hidden.id);
  return { orgId, person, colleague, hidden, safe, record };
}

/** Every request below a vault, with a valid body. */
function requestsTo(vaultId: string, recordId: string, userId: string): [string, string, unknown?][] {
  const content = { type: "login", encrypted_data: sealed() };
  const path = `/api/vaults/${vaultId}`;
  return [
    ["GET", path],
    ["PATCH", path, { name: "Other" }],
    ["PATCH", path, { safe_for_travel: true }],
    ["GET", `${path}/members`],
    ["PUT", `${path}/members/${userId}`, { permission: "read", encrypted_key: jwe }],
    ["DELETE", `${path}/members/${userId}`],
    ["GET", `${path}/records`],
    ["POST", `${path}/records`, content],
    ["GET", `${path}/records/${recordId}`],
    ["PUT", `${path}/records/${recordId}`, content],
    ["DELETE", `${path}/records/${recordId}`],
    ["POST", `${path}/import`, { records: [content] }],
    ["DELETE", path],
  ];
}

await t.test("a vault that travel mode hides is indistinguishable from one that does not exist", async (t) => {
  const { person, colleague, hidden, safe, record } = await traveller();
  await travel(service, person, true);
  const { body } = await call(service, person, "GET", "/api/vaults");
  t.same(
    body.data.map(({ id }) => id),
    [safe.id],
  );
  const absent = requestsTo(randomUUID(), record.id, colleague.userId);
  for (const [n, [method, path, sent]] of requestsTo(hidden.id, record.id, colleague.userId).entries()) {
    const [answer, none] = [
      await call(service, person, method, path, { body: sent }),
      await call(service, person, method, absent[n]?.[1] ?? "", { body: sent }),
    ];
    t.equal(answer.status, 404, `${method} ${path}`);
    t.same({ ...answer.body, request_id: "" }, { ...none.body, request_id: "" });
  }
  t.equal((await call(service, colleague, "GET", `/api/vaults/${hidden.id}`)).status, 200, "others still see it");
  t.equal((await call(service, colleague, "GET", `/api/vaults/${hidden.id}/records/${record.id}`)).status, 200);
  await travel(service, person, false);
  t.equal((await call(service, person, "GET", `/api/vaults/${hidden.id}`)).status, 200);
  t.equal((await call(service, person, "GET", "/api/vaults")).body.data.length, 2);
});

await t.test("a traveller's devices receive vault_deleted and vault_created", async (t) => {
  const { person, hidden, safe } = await traveller();
  await travel(service, person, true);
  const mine = ({ user_ids }: { user_ids: string[] | null }): boolean => user_ids?.includes(person.userId) ?? false;
  const gone = await listeners.vaultEvent("gone", (event) => event.action === "vault_deleted" && mine(event));
  t.match(gone, { vault_id: hidden.id, user_ids: [person.userId] });
  await travel(service, person, false);
  await listeners.vaultEvent(
    "back",
    (event) =>
      event.action === "vault_created" &&
      event.vault_id === hidden.id &&
      event.updated_at > gone.updated_at &&
      mine(event),
  );
  t.notOk(listeners.vaults.some(({ action, vault_id }) => action === "vault_deleted" && vault_id === safe.id));
});

await t.test("a vault that is created while travelling is hidden", async (t) => {
  const { person } = await traveller();
  await travel(service, person, true);
  const made = await newVault(service, person);
  t.equal((await call(service, person, "GET", `/api/vaults/${made.id}`)).status, 404);
  await travel(service, person, false);
  t.equal((await call(service, person, "GET", `/api/vaults/${made.id}`)).status, 200);
});

await t.test("a vault that is shared with a person who travels is hidden", async (t) => {
  const { person, colleague } = await traveller();
  await travel(service, person, true);
  const made = await newVault(service, colleague);
  t.equal(
    (await call(service, person, "GET", `/api/vaults/${made.id}`)).status,
    403,
    "of the organization, not shared",
  );
  await share(service, colleague, made.id, person, "write");
  t.equal((await call(service, person, "GET", `/api/vaults/${made.id}`)).status, 404);
});

await t.test("the flag takes effect at once, for every person who travels", async (t) => {
  const { person, colleague, hidden, safe } = await traveller();
  await travel(service, person, true);
  listeners.vaults.length = 0;
  const path = `/api/vaults/${hidden.id}`;
  await call(service, colleague, "PATCH", path, { body: { safe_for_travel: true } });
  t.equal((await call(service, person, "GET", path)).status, 200);
  const flagged = await listeners.vaultEvent("the other viewers are notified", ({ action, vault_id, except }) => {
    return action === "vault_updated" && vault_id === hidden.id && except?.includes(person.userId) === true;
  });
  t.match(flagged, { user_ids: null, except: [person.userId] }, "a new viewer receives vault_created");
  const own = await call(service, person, "PATCH", `/api/vaults/${safe.id}`, { body: { safe_for_travel: false } });
  t.match(own, { status: 200, body: { safe_for_travel: false } });
  t.equal((await call(service, person, "GET", `/api/vaults/${safe.id}`)).status, 404);
  await call(service, colleague, "PATCH", path, { body: { safe_for_travel: false } });
  t.equal((await call(service, person, "GET", path)).status, 404);
  t.equal((await call(service, colleague, "GET", path)).status, 200);
});

await t.test("travel mode is read and changed over the bus, audited once", async (t) => {
  const { orgId, person } = await traveller();
  const { bus } = people;
  const read = () => bus.request(travelModeOf, { user_id: person.userId });
  t.same(await read(), { enabled: false, updated_at: "1970-01-01T00:00:00.000000Z" });
  const draft = () =>
    ({
      schema: auditSchemaName,
      id: randomUUID(),
      time: "2026-11-20T10:00:00.000000Z",
      org_id: orgId,
      action: "user.travel_mode.enabled",
      outcome: "success",
      actor: { type: "user", id: person.userId },
      target: { type: "user", id: person.userId },
      source: { ip: "192.0.2.1", user_agent: null },
      request: { id: "r", method: "PUT", route: "/api/account/travel-mode", status: 200 },
    }) as const;
  const [first, second] = [draft(), draft()];
  const on = await bus.request(setTravelMode, { user_id: person.userId, enabled: true, audit: [first] });
  t.equal(on.enabled, true);
  t.same(await read(), on);
  t.same(await bus.request(setTravelMode, { user_id: person.userId, enabled: true, audit: [second] }), on);
  await listeners.record("the record", ({ id }) => id === first.id);
  const off = await bus.request(setTravelMode, { user_id: person.userId, enabled: false, audit: [] });
  t.ok(off.updated_at > on.updated_at);
  t.same(await read(), off);
  const marker = await newVault(service, person);
  await listeners.record("the marker", ({ target }) => target.id === marker.id);
  t.notOk(
    listeners.audit.some(({ id }) => id === second.id),
    "a call without a change is not audited",
  );
});

await t.test("a change is done before its deadline or not at all", async (t) => {
  const { person } = await traveller();
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema: "vaults", telemetry });
  t.teardown(() => database.close());
  // Connected before, so that the lock's holder can see it wait.
  await database.ready();
  const wanted = { user_id: person.userId, enabled: true, audit: [] };
  const isOn = async () => (await people.bus.request(travelModeOf, { user_id: person.userId })).enabled;
  // A clock that leaves so much of the six seconds, however slowly the machine starts the work.
  const clockWith = (left: number): (() => number) => {
    let reads = 0;
    return () => (reads++ === 0 ? 0 : 6_000 - left);
  };

  const users = { requireActiveSession: <Session>(session: Session) => session };
  const deps = { database, newId: () => randomUUID(), now: clock.now, users };
  const lock = { text: "SELECT FROM people WHERE user_id = $1 FOR UPDATE", values: [person.userId], waiting: 1 };
  let gaveUp = false;
  const attempt = async (): Promise<void> => {
    // Postgres names the limit that was reached first: the statement's own, not that of locks.
    const ofTheStatement = { ...late, cause: { code: "57014" } };
    const doing = setPersonsTravelMode(deps, wanted, clockWith(3_500));
    await t.rejects(doing, ofTheStatement, "it does not wait for a lock for as long as others do");
    gaveUp = true;
  };
  await whileHolding(service, lock, [attempt], () => until("it gives up", () => gaveUp));
  t.equal(await isOn(), false);

  // The work is done when the deadline passes.
  let time = 0;
  const newId = (): string => {
    time = 6_000;
    return randomUUID();
  };
  await t.rejects(
    setPersonsTravelMode({ ...deps, newId }, wanted, () => time),
    late,
  );
  t.equal(await isOn(), false);

  // Or the requester's time is over.
  let ahead = 0;
  const input = { ...wanted, until: new Date(Date.now() + 60_000).toISOString() };
  const slow = {
    ...deps,
    now: () => new Date(Date.now() + ahead),
    newId: () => {
      ahead = 60_000;
      return randomUUID();
    },
  };
  await t.rejects(setPersonsTravelMode(slow, input), late);
  t.equal(await isOn(), false);
  await setPersonsTravelMode(deps, wanted);
  t.equal(await isOn(), true);
});

await t.test("a manager ends a journey that began after they got the role, not an older one", async (t) => {
  const { person } = await traveller();
  await travel(service, person, true);
  const { updated_at: began } = await people.bus.request(travelModeOf, { user_id: person.userId });
  const set = (enabled: boolean, standing_since: string) =>
    people.bus.request(setTravelMode, { user_id: person.userId, enabled, audit: [], standing_since });
  const shifted = (milliseconds: number): string => new Date(Date.parse(began) + milliseconds).toISOString();
  for (const since of [began, shifted(1_000)])
    for (const enabled of [false, true]) await t.rejects(set(enabled, since), { code: "access_denied" });
  t.match(await people.bus.request(travelModeOf, { user_id: person.userId }), { enabled: true, updated_at: began });
  t.match(await set(false, shifted(-1_000)), { enabled: false });
  t.match(await set(true, shifted(60_000)), { enabled: true }, "travel mode may be turned on for another person");
});

await t.test("a change that waits is not made after its session ends", async (t) => {
  const { person } = await traveller();
  const wanted = { user_id: person.userId, enabled: true, audit: [], session_id: person.sessionId };
  const set = () => people.bus.request(setTravelMode, wanted, { timeoutMilliseconds: 20_000 });
  const lock = { text: "SELECT FROM people WHERE user_id = $1 FOR UPDATE", values: [person.userId], waiting: 1 };
  const attempt = () => t.rejects(set(), { code: "invalid_token" });
  await whileHolding(service, lock, [attempt], () => logOut(service, person));
  t.equal((await people.bus.request(travelModeOf, { user_id: person.userId })).enabled, false);
});

await t.test("a change that is delayed before its commit is not made", async (t) => {
  const { person } = await traveller();
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema: "vaults", telemetry });
  t.teardown(() => database.close());
  const sessions = (pid: number) => execute(service, "SELECT FROM pg_stat_activity WHERE pid = $1", [pid]);
  const transaction: typeof database.transaction = (work) =>
    database.transaction(async (tx) => {
      const done = await work(tx);
      const pid = await tx.oneFirst(sql.type(z.object({ pid: z.int() }))`SELECT pg_backend_pid() AS pid`);
      // Shorter than the idle limit of 15 s of transactions.
      await until("Postgres has given it up", async () => (await sessions(pid)).length === 0, 12);
      return done;
    });
  const deps = {
    database: { ...database, transaction },
    newId: () => randomUUID(),
    now: clock.now,
    users: { requireActiveSession: <Session>(session: Session) => session },
  };
  const wanted = { user_id: person.userId, enabled: true, audit: [] };
  await t.rejects(setPersonsTravelMode(deps, wanted), late);
  t.equal((await people.bus.request(travelModeOf, { user_id: person.userId })).enabled, false);
});

await t.test("a change that arrives after its deadline is not made", async (t) => {
  const { person } = await traveller();
  const isOn = async () => (await people.bus.request(travelModeOf, { user_id: person.userId })).enabled;
  for (const enabled of [true, false]) {
    const input = { user_id: person.userId, enabled, audit: [] };
    const held = { ...input, until: new Date(clock.now().getTime() - 1).toISOString() };
    await t.rejects(people.bus.request(setTravelMode, held), { code: "unavailable", message: /clock/ });
    t.equal(await isOn(), !enabled);
    const inTime = { ...input, until: new Date(clock.now().getTime() + 60_000).toISOString() };
    t.match(await people.bus.request(setTravelMode, inTime, { timeoutMilliseconds: 20_000 }), { enabled });
    t.equal(await isOn(), enabled);
  }
});

await t.test("an unknown person may travel before having vaults", async (t) => {
  const orgId = randomUUID();
  const person = await people.add();
  await travel(service, person, true);
  await people.place(person, { orgId, role: "member" });
  const vault = await newVault(service, person);
  t.same((await call(service, person, "GET", "/api/vaults")).body.data, []);
  await travel(service, person, false);
  t.match((await call(service, person, "GET", "/api/vaults")).body.data, [{ id: vault.id }]);
});
