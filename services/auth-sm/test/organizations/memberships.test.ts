import { randomUUID } from "node:crypto";
import { isUnderstood, lostMembershipsKey, type Membership, memberships, namedMemberships } from "@coffer/events";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { accept, execute, invite, join, orgOf } from "../support/members.ts";
import { type Person, register, registration } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// What other services are told of memberships, whose copy they keep.

const service = await startAuthSm(t);
const { observer } = service;
const owner = await register(service, { orgName: "Company" });
const orgId = await orgOf(service, owner);

const toldOf = ({ userId }: { userId: string }, org = orgId): Membership[] =>
  observer.memberships.filter(({ org_id, user_id }) => org_id === org && user_id === userId);
const stateOf = ({ role, status }: Membership): string => `${role} ${status}`;
/**
 * The published states of a person's membership, in the order of their versions; waits for `count`
 * of them.
 */
async function told(person: { userId: string }, count: number, org = orgId): Promise<Membership[]> {
  await until(`${count} states of the membership`, () => toldOf(person, org).length >= count);
  return toldOf(person, org).toSorted((one, other) => one.version - other.version);
}
const change = (userId: string, body: object) =>
  call(service, "PATCH", `/api/org/members/${userId}`, { token: owner.token, body });
const remove = ({ token }: Person, userId: string) =>
  call(service, "DELETE", `/api/org/members/${userId}`, { token, headers: { "x-coffer-org": orgId } });
const invited = async (email: string, role = "member") => (await invite(service, owner, { email, role })).body.token;

async function listed(): Promise<{ all: Membership[]; asOf: number; pages: number }> {
  let page = await observer.bus.request(memberships, { after: null });
  const asOf = page.as_of;
  const all = page.memberships.filter(isUnderstood);
  let pages = 1;
  for (; page.after !== null; pages += 1) {
    page = await observer.bus.request(memberships, { after: page.after });
    all.push(...page.memberships.filter(isUnderstood));
  }
  return { all, asOf, pages };
}

await t.test("the founder of an organization is its owner from the start", async (t) => {
  const [state] = await told(owner, 1);
  t.match(state, { org_id: orgId, role: "owner", status: "active", email: owner.email, name: owner.email });
  const { body } = await call(service, "GET", "/api/org/members", { token: owner.token });
  t.match(body.data, [{ joined_at: state?.joined_at }]);
  const founded = await call(service, "POST", "/api/orgs", { token: owner.token, body: { name: "Another" } });
  t.match(await told(owner, 1, founded.body.id), [{ role: "owner", status: "active" }]);
});

await t.test(
  "every change of a membership is published, and its version grows also after removal and return",
  async (t) => {
    // Stays logged in, with an organization besides.
    const person = await register(service, { orgName: "Elsewhere" });
    t.equal((await accept(service, person, await invited(person.email))).status, 200);
    t.equal((await change(person.userId, { role: "admin" })).status, 200);
    t.equal((await change(person.userId, { status: "suspended" })).status, 200);
    t.equal((await change(person.userId, { status: "active" })).status, 200);
    t.equal((await change(person.userId, { status: "active" })).status, 200, "which changes nothing");
    t.equal((await remove(owner, person.userId)).status, 204);
    t.equal((await accept(service, person, await invited(person.email, "auditor"))).status, 200);
    t.equal((await remove(person, person.userId)).status, 204, "the person leaves");
    const states = await told(person, 7);
    t.strictSame(states.map(stateOf), [
      "member active",
      "admin active",
      "admin suspended",
      "admin active",
      "admin removed",
      "auditor active",
      "auditor removed",
    ]);
    t.equal(new Set(states.map(({ version }) => version)).size, 7);
    t.strictSame(toldOf(person), states, "in the order in which they happened");
    t.ok(states.every(({ email, name }) => email === person.email && name === person.email));
    const [, , , , removed, returned] = states.map(({ joined_at }) => joined_at);
    t.not(removed, returned, "who returns has joined anew");
  },
);

await t.test("a registration with an invitation is published", async (t) => {
  const body = await registration(service);
  const invite_token = await invited(body.email, "auditor");
  const answer = await call(service, "POST", "/api/auth/register/finish", {
    body: { ...body, name: "Ada", invite_token },
  });
  t.equal(answer.status, 201);
  t.match(await told({ userId: answer.body.user.id }, 1), [{ role: "auditor", status: "active", name: "Ada" }]);
});

await t.test("a refused change publishes nothing", async (t) => {
  const person = await register(service);
  const token = await invited(person.email);
  t.equal((await accept(service, owner, token)).status, 403);
  t.equal((await change(owner.userId, { role: "member" })).status, 409);
  t.equal((await accept(service, person, token)).status, 200);
  t.equal((await told(person, 1)).length, 1);
  t.equal(toldOf(owner).length, 1);
});

await t.test("the list has all present memberships, with the version that was published last", async (t) => {
  const { all, asOf, pages } = await listed();
  t.equal(pages, 1);
  const newest = new Map<string, Membership>();
  for (const state of observer.memberships) {
    const key = `${state.org_id} ${state.user_id}`;
    if ((newest.get(key)?.version ?? 0) < state.version) newest.set(key, state);
  }
  const lasting = [...newest.values()].filter(({ status }) => status !== "removed");
  const sorted = (states: Membership[]) => states.toSorted((one, other) => one.version - other.version);
  t.strictSame(sorted(all), sorted(lasting));
  t.ok(observer.memberships.every(({ version }) => version <= asOf));
});

await t.test("many come in pages, each once", async (t) => {
  const many = await register(service, { orgName: "Many" });
  await execute(
    service,
    `WITH people AS (
       INSERT INTO auth_sm.users (id, email, name, opaque_setup_id, registration_record, public_key, encrypted_user_key,
         encrypted_private_key, created_at)
       SELECT gen_random_uuid(), repeat('x', 240) || n, repeat('😀', 128), opaque_setup_id, '', '', '', '', now()
       FROM auth_sm.users, generate_series(1, 900) AS n WHERE id = $2 RETURNING id
     )
     INSERT INTO auth_sm.memberships (org_id, user_id, role, status, joined_at)
     SELECT $1, id, 'member', 'active', now() FROM people`,
    [await orgOf(service, many), many.userId],
  );
  const { all, pages } = await listed();
  const rows = await execute(service, "SELECT org_id, user_id FROM auth_sm.memberships ORDER BY org_id, user_id");
  t.strictSame(
    all.map(({ org_id, user_id }) => ({ org_id, user_id })),
    rows,
  );
  t.ok(pages >= 4, `${pages} pages`);
});

await t.test("an invalid cursor is refused", async (t) => {
  const id = randomUUID();
  for (const after of ["", "x", `${id} ${id}`, `-1 ${id} ${id}`, `1 ${id}`, `1 ${id} x`]) {
    await t.rejects(observer.bus.request(memberships, { after }), { code: "invalid_request" }, after);
  }
});

await t.test("a change that has its version and is not committed yet is waited for", async (t) => {
  const person = await register(service);
  await join(service, orgId, person, "member");
  // The change is held up right before its commit, when it tells of itself.
  const client = new pg.Client({ connectionString: service.postgres.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query("BEGIN; LOCK TABLE auth_sm.outbox IN EXCLUSIVE MODE");
  const changing = change(person.userId, { role: "admin" });
  const waits = (what: string) => async () => {
    const text = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`;
    return (await execute(service, text, [`%${what}%`])).length > 0;
  };
  await until("the change waits", waits("insert into outbox"));
  const listing = listed();
  await until("the list waits", waits("select pg_advisory_xact_lock("));
  await client.query("ROLLBACK");
  t.equal((await changing).status, 200);
  const { all, asOf } = await listing;
  const found = all.find(({ user_id }) => user_id === person.userId);
  t.match(found, { role: "admin" });
  t.ok((found?.version ?? Infinity) <= asOf);
});

await t.test("the requested memberships are returned as they are, without people who are not members", async (t) => {
  const person = await register(service);
  await join(service, orgId, person, "admin", "suspended");
  const named = [
    { org_id: orgId, user_id: person.userId },
    { org_id: orgId, user_id: randomUUID() },
    { org_id: randomUUID(), user_id: owner.userId },
    { org_id: orgId, user_id: owner.userId },
  ];
  const answer = await observer.bus.request(namedMemberships, { named });
  const { all } = await listed();
  const expected = all.filter(
    ({ org_id, user_id }) => org_id === orgId && [person.userId, owner.userId].includes(user_id),
  );
  const sorted = (states: readonly Membership[]) => states.toSorted((one, other) => (one.email < other.email ? -1 : 1));
  t.equal(expected.length, 2);
  t.strictSame(sorted(answer.memberships.filter(isUnderstood)), sorted(expected));
});

await t.test("a lost membership is in Redis while the bus is away, until the change is delivered", async (t) => {
  const redis = new Redis(service.redis.url);
  t.teardown(() => redis.disconnect());
  const joined = async () => {
    const person = await register(service, { orgName: "Elsewhere" });
    t.equal((await accept(service, person, await invited(person.email))).status, 200);
    await told(person, 1);
    return person;
  };
  const [suspended, demoted, removed, returned] = [await joined(), await joined(), await joined(), await joined()];
  const last = await joined();
  const inRedis = async (): Promise<Record<string, unknown>[]> =>
    JSON.parse((await redis.get(lostMembershipsKey).catch(() => null)) ?? "[]") as Record<string, unknown>[]; // as it is written
  const lost = async (count: number) =>
    until(`${count} stand there`, async () => {
      const entries = await inRedis();
      return entries.length === count && entries;
    });
  await service.nats.stop();
  t.equal((await change(returned.userId, { status: "suspended" })).status, 200);
  await lost(1);
  t.equal((await change(suspended.userId, { role: "admin" })).status, 200);
  t.equal((await change(suspended.userId, { status: "suspended" })).status, 200);
  t.equal((await change(demoted.userId, { role: "auditor" })).status, 200);
  t.equal((await change(returned.userId, { status: "active" })).status, 200);
  t.equal((await remove(owner, removed.userId)).status, 204);
  // The newest first, without people who regained access since.
  const standing = [removed.userId, demoted.userId, suspended.userId].join();
  const entries = await until("they stand there", async () => {
    const found = await inRedis();
    return found.map(({ user_id }) => user_id).join() === standing && found;
  });
  for (const each of entries) {
    t.same(Object.keys(each).sort(), ["org_id", "user_id", "version"], "and nothing else of them");
    t.equal(each["org_id"], orgId);
  }
  t.ok((await redis.pttl(lostMembershipsKey)) > 0, "and goes by itself");

  // More than are told wait already.
  await execute(
    service,
    `INSERT INTO auth_sm.outbox (lane, id, subject, payload)
     SELECT lane, gen_random_uuid(), subject, payload FROM
       (SELECT * FROM auth_sm.outbox WHERE lane = 'vaults' ORDER BY position LIMIT 1) AS oldest, generate_series(1, 1100)`,
  );
  t.equal((await change(last.userId, { status: "suspended" })).status, 200);
  await until("the newest is told", async () => (await inRedis())[0]?.["user_id"] === last.userId);
  await service.nats.start();
  await told(suspended, 3);
  await told(removed, 2);
});
