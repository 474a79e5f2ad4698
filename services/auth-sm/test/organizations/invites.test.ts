import { createHash } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { accept, execute, invite, startCompany } from "../support/members.ts";
import { newEmail, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock, observer } = service;
const { owner, admin, auditor, member, suspended, stranger, orgId, strangersOrgId } = await startCompany(service);
const base = "/api/org/invites";
const week = 7 * 24 * 60 * 60 * 1000;

const list = ({ token }: Person) => call(service, "GET", base, { token });
const withdraw = ({ token }: Person, id: string) => call(service, "DELETE", `${base}/${id}`, { token });
const membersOf = async (person: Person) =>
  (await call(service, "GET", "/api/org/members", { token: person.token })).body.data.map(({ user_id }) => user_id);

await t.test("an invitation is shown once, is stored as a hash, and admits its e-mail", async (t) => {
  const person = await register(service);
  const answer = await invite(service, owner, { email: ` ${person.email.toUpperCase()} `, role: "auditor" });
  t.equal(answer.status, 201);
  const { id, token, ...rest } = answer.body;
  t.match(token, /^[\w-]{43}$/);
  t.match(rest, { email: person.email, role: "auditor", expires_at: /\.\d{6}Z$/ });
  const rows = (await execute(service, "SELECT * FROM auth_sm.invites WHERE id = $1", [id])) as {
    token_hash: Buffer;
  }[];
  t.ok(rows[0]?.token_hash.equals(createHash("sha256").update(token).digest()));
  t.notMatch(JSON.stringify(rows), token);
  const listed = await list(owner);
  t.match(listed.body.data, [{ id, email: person.email, role: "auditor", invited_by: owner.userId }]);
  t.notMatch(JSON.stringify(listed.body), token);

  const joined = await accept(service, person, token);
  t.equal(joined.status, 200);
  t.match(joined.body, { id: orgId, name: "Company", plan: "enterprise" });
  t.match((await call(service, "GET", "/api/account", { token: person.token })).body.organizations, [
    { id: orgId, role: "auditor", status: "active" },
  ]);
  t.strictSame((await list(owner)).body.data, [], "it is spent");
  t.equal((await accept(service, person, token)).status, 404);
  const invited = await observer.record("the invitation", ({ target }) => target.id === id);
  t.match(invited, { action: "org.member.invited", org_id: orgId, changes: { email: person.email, role: "auditor" } });
  const accepted = await observer.record(
    "its end",
    ({ action, target }) => action === "org.member.accepted" && target.id === person.userId,
  );
  t.match(accepted, {
    action: "org.member.accepted",
    actor: { id: person.userId },
    changes: { role: "auditor", invite_id: id, invited_by: owner.userId },
  });
  t.notMatch(JSON.stringify(observer.records), token);
});

await t.test("no member invites to more than the member's own rights", async (t) => {
  const may = async (person: Person, role: string) =>
    (await invite(service, person, { email: newEmail(), role })).status;
  for (const role of ["owner", "admin", "auditor", "member"]) {
    t.equal(await may(owner, role), 201, `an owner to ${role}`);
    t.equal(await may(admin, role), role === "owner" ? 403 : 201, `an admin to ${role}`);
    for (const person of [auditor, member, suspended]) t.equal(await may(person, role), 403);
  }
  t.equal(
    (await invite(service, owner, { email: newEmail(), role: "member" }, { "x-coffer-org": strangersOrgId })).status,
    403,
  );
  t.equal(await may(await register(service), "member"), 404, "without any organization");
  const email = newEmail();
  const toOwner = await invite(service, owner, { email, role: "owner" });
  t.equal((await invite(service, admin, { email, role: "member" })).status, 403, "nor in place of an owner's");
  t.equal((await withdraw(admin, toOwner.body.id)).status, 403);
  t.equal((await withdraw(owner, toOwner.body.id)).status, 204);
  const denial = await observer.record(
    "a denial",
    ({ action, outcome, actor }) =>
      action === "org.member.invited" && outcome === "denied" && actor.id === auditor.userId,
  );
  t.match(denial, { org_id: orgId, target: { type: "invite", id: null }, request: { status: 403 } });
});

await t.test("missing or malformed fields are 400", async (t) => {
  for (const body of [
    {},
    { email: "a@b" },
    { role: "member" },
    { email: "ab", role: "member" },
    { email: "a@b", role: "x" },
  ]) {
    t.equal((await invite(service, owner, body)).status, 400, JSON.stringify(body));
  }
  for (const token of [undefined, "", 7, "x".repeat(513)]) t.equal((await accept(service, owner, token)).status, 400);
  t.equal((await accept(service, owner, "x".repeat(512))).status, 404);
});

await t.test("another person's invitation is 403, on record where it came from, and stays good", async (t) => {
  const person = await register(service);
  const { body } = await invite(service, owner, { email: person.email, role: "member" });
  for (const [index, other] of [stranger, await register(service), member].entries()) {
    const answer = await accept(service, other, body.token);
    t.equal(answer.status, 403, String(index));
    t.equal(answer.body.error, "access_denied");
    const denial = await observer.record(
      "the denial",
      ({ actor, target }) => actor.id === other.userId && target.id === body.id && target.type === "invite",
    );
    t.match(denial, { org_id: orgId, action: "org.member.accepted", outcome: "denied" });
  }
  t.equal((await accept(service, person, body.token)).status, 200);
});

await t.test("an unknown token is 404 and is recorded for no organization", async (t) => {
  const answer = await accept(service, stranger, `cfi1_${"A".repeat(43)}`);
  await call(service, "POST", "/api/orgs", { token: stranger.token, body: { name: "Another" } });
  t.equal(answer.status, 404);
  t.equal(answer.body.error, "not_found");
  t.equal((await call(service, "POST", `${base}/accept`, { body: { token: "x" } })).status, 401);
  t.match(answer.headers.get("ratelimit-policy"), /^"user";/);
  await observer.record("something later", ({ actor }) => actor.id === stranger.userId);
  t.notOk(observer.records.some(({ request }) => request.id === answer.headers.get("x-request-id")));
});

await t.test("of many at once with one invitation, one joins", async (t) => {
  const person = await register(service);
  const { body } = await invite(service, owner, { email: person.email, role: "member" });
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(service, person, body.token)));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(404)]);
  t.equal((await membersOf(owner)).filter((id) => id === person.userId).length, 1);
});

await t.test("inviting again replaces the invitation: the earlier token is worth nothing", async (t) => {
  const person = await register(service);
  const first = await invite(service, owner, { email: person.email, role: "admin" });
  const second = await invite(service, admin, { email: person.email, role: "member" });
  t.equal(second.status, 201);
  t.equal((await accept(service, person, first.body.token)).status, 404);
  t.equal((await list(auditor)).body.data.filter(({ email }) => email === person.email).length, 1);
  t.equal((await accept(service, person, second.body.token)).status, 200);
  for (const { email } of [person, owner, suspended]) {
    const answer = await invite(service, owner, { email, role: "member" });
    t.equal(answer.status, 409, "a member");
    t.equal(answer.body.error, "conflict");
  }
});

await t.test("ten invitations of one e-mail at once are one, the last", async (t) => {
  const person = await register(service);
  const invite_ = () => invite(service, owner, { email: person.email, role: "member" });
  const made = await Promise.all(Array.from({ length: 10 }, invite_));
  t.ok(made.every(({ status }) => status === 201));
  t.equal((await list(owner)).body.data.filter(({ email }) => email === person.email).length, 1);
  const statuses = [];
  for (const { body } of made) statuses.push((await accept(service, person, body.token)).status);
  t.equal(statuses.filter((status) => status === 200).length, 1);
});

await t.test("owners, admins and auditors list invitations; owners and admins revoke them", async (t) => {
  const { body } = await invite(service, admin, { email: newEmail(), role: "member" });
  for (const person of [owner, admin, auditor]) t.equal((await list(person)).status, 200);
  for (const person of [member, suspended]) t.equal((await list(person)).status, 403);
  t.strictSame((await list(stranger)).body.data, []);
  for (const person of [auditor, member, suspended]) t.equal((await withdraw(person, body.id)).status, 403);
  t.equal((await withdraw(stranger, body.id)).status, 404);
  t.equal((await withdraw(owner, "x")).status, 404);
  t.equal((await withdraw(admin, body.id)).status, 204);
  t.equal((await withdraw(admin, body.id)).status, 404);
  const record = await observer.record(
    "the withdrawal",
    ({ target, action }) => target.id === body.id && action === "org.member.removed",
  );
  t.match(record, { org_id: orgId, target: { type: "invite" } });
});

await t.test("it is good for seven days and not a moment longer", async (t) => {
  clock.stop();
  const [early, late] = [await register(service), await register(service)];
  const [first, second] = [
    await invite(service, owner, { email: early.email, role: "member" }),
    await invite(service, owner, { email: late.email, role: "member" }),
  ];
  t.equal(new Date(first.body.expires_at).getTime() - clock.now().getTime(), week);
  clock.advance(week - 1);
  const again = await Promise.all(
    [early, late].map(async (person) => ({ ...person, token: await freshToken(person) })),
  );
  t.equal((await accept(service, again[0] ?? early, first.body.token)).status, 200);
  t.ok((await list({ ...owner, token: await freshToken(owner) })).body.data.some(({ id }) => id === second.body.id));
  clock.advance(1);
  t.equal((await accept(service, again[1] ?? late, second.body.token)).status, 404);
  t.notOk((await list({ ...owner, token: await freshToken(owner) })).body.data.some(({ id }) => id === second.body.id));
});

await t.test("a thousand are open at most; those that have expired do not count and go", async (t) => {
  const token = await freshToken(owner);
  const fill = (count: number, expires: string) =>
    execute(
      service,
      `INSERT INTO auth_sm.invites (id, org_id, email, role, token_hash, invited_by, created_at, expires_at)
       SELECT gen_random_uuid(), $1, gen_random_uuid() || '@x', 'member', sha256(gen_random_uuid()::text::bytea), $2, now(), $3
       FROM generate_series(1, $4)`,
      [orgId, owner.userId, expires, count],
    );
  await execute(service, "DELETE FROM auth_sm.invites");
  await fill(999, new Date(clock.now().getTime() + 1000).toISOString());
  await fill(500, new Date(clock.now().getTime()).toISOString());
  const email = newEmail();
  t.equal((await invite(service, { token }, { email, role: "member" })).status, 201, "the thousandth");
  const answer = await invite(service, { token }, { email: newEmail(), role: "member" });
  t.equal(answer.status, 409);
  t.equal(answer.body.error, "conflict");
  t.equal((await invite(service, { token }, { email, role: "auditor" })).status, 201, "in the place of another");
  clock.advance(1000);
  t.equal(
    (await invite(service, { token }, { email: newEmail(), role: "member" })).status,
    201,
    "when they have expired",
  );
  t.equal((await execute(service, "SELECT FROM auth_sm.invites")).length, 2);
});

async function freshToken({ refreshToken }: Person): Promise<string> {
  const { body } = await call(service, "POST", "/api/auth/refresh", { body: { refresh_token: refreshToken } });
  return body.access_token;
}
