import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { device, logIn, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";
import { whileWaitingFor } from "../support/waiting.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
clock.stop();

const list = (person: Person) => call(service, "GET", "/api/auth/sessions", { token: person.token });
const end = (person: Person, id: string) =>
  call(service, "DELETE", `/api/auth/sessions/${id}`, { token: person.token });
const endOthers = (person: Person, query = "?others=true") =>
  call(service, "DELETE", `/api/auth/sessions${query}`, { token: person.token });
const statusAt = async (at: { url: string }, { token }: Person) =>
  (await call(at, "GET", "/api/account", { token })).status;
const idsOf = async (person: Person) => (await list(person)).body.data.map(({ id }) => id);

await t.test("the list has the lasting sessions, the one used last first, and flags the caller's", async (t) => {
  const person = await register(service);
  clock.advance(1000);
  const other = await logIn(service, person);
  const answer = await list(person);
  t.equal(answer.status, 200);
  t.match(answer.body.data, [
    { id: other.sessionId, device, ip: "127.0.0.1", current: false },
    { id: person.sessionId, device, ip: "127.0.0.1", current: true },
  ]);
  for (const item of answer.body.data) {
    t.match(item, { created_at: /\.\d{6}Z$/, last_used_at: /\.\d{6}Z$/ });
    t.strictSame(Object.keys(item).sort(), ["created_at", "current", "device", "id", "ip", "last_used_at"]);
  }
  clock.advance(1000);
  await call(service, "POST", "/api/auth/refresh", { body: { refresh_token: person.refreshToken } });
  t.strictSame(await idsOf(person), [person.sessionId, other.sessionId], "a refresh is a use");
  await call(service, "POST", "/api/auth/logout", { token: other.token });
  t.strictSame(await idsOf(person), [person.sessionId], "one that has ended is not in it");
});

await t.test("one session ends everywhere at once, with messages to the bus, Redis and the audit", async (t) => {
  const person = await register(service, { orgName: "One" });
  const other = await logIn(service, person);
  t.equal(await statusAt(second, other), 200);
  const answer = await end(person, other.sessionId);
  t.equal(answer.status, 204);
  t.strictSame(answer.body, {});
  t.equal(await statusAt(second, other), 401);
  t.equal(await statusAt(second, person), 200);
  const news = await until("the news", () => observer.revocations.find((one) => one.session_id === other.sessionId));
  t.match(news, { user_id: person.userId, reason: "user_revoked" });
  const record = await observer.record(
    "the revocation",
    ({ action, target }) => action === "session.revoked" && target.id === other.sessionId,
  );
  t.match(record, {
    outcome: "success",
    reason: "user_revoked",
    actor: { type: "user", id: person.userId, session_id: person.sessionId },
    target: { type: "session", id: other.sessionId, parent_id: person.userId },
    request: { method: "DELETE", route: "/api/auth/sessions/{id}", status: 204 },
  });
  t.type(record.org_id, "string");
});

await t.test("a caller may end its own session", async (t) => {
  const person = await register(service);
  t.equal((await end(person, person.sessionId)).status, 204);
  t.equal(await statusAt(second, person), 401);
});

await t.test("an ended session, another person's and an invalid id are all 404, and end nothing", async (t) => {
  const [person, stranger] = [await register(service), await register(service)];
  const ended = await logIn(service, person);
  t.equal((await end(person, ended.sessionId)).status, 204);
  for (const id of [ended.sessionId, stranger.sessionId, "x"]) {
    const answer = await end(person, id);
    t.equal(answer.status, 404, id);
    t.equal(answer.body.error, "not_found");
  }
  t.equal(await statusAt(service, stranger), 200);
  t.equal((await list(person)).body.data.length, 1);
  const refused = await observer.record(
    "the attempt",
    ({ actor, outcome, target }) =>
      actor.id === person.userId && outcome === "failure" && target.id === stranger.sessionId,
  );
  t.match(refused, { action: "session.revoked", reason: "not_found" });
});

await t.test("only others=true ends all sessions except the caller's", async (t) => {
  const person = await register(service);
  const others = [await logIn(service, person), await logIn(service, person)];
  for (const query of ["", "?others=false", "?others=", "?others=true&others=true"]) {
    t.equal((await endOthers(person, query)).status, 400, query);
  }
  t.equal((await list(person)).body.data.length, 3);
  t.equal((await endOthers(person)).status, 204);
  for (const other of others) t.equal(await statusAt(second, other), 401);
  t.equal(await statusAt(second, person), 200);
  t.strictSame(await idsOf(person), [person.sessionId]);
  t.equal((await endOthers(person)).status, 204, "also when there is no other");
});

await t.test("two sessions that end all others at once leave one", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const answers = await whileWaitingFor(
    service,
    "sessions",
    [person, other].map((one) => () => endOthers(one)),
    () => Promise.resolve(),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [204, 401]);
  const states = [await statusAt(service, person), await statusAt(service, other)];
  t.strictSame(states.sort(), [200, 401]);
});

await t.test("a session that has expired is neither listed nor ended", async (t) => {
  const person = await register(service);
  const old = await logIn(service, person);
  await execute(service, "UPDATE auth_sm.sessions SET expires_at = $2 WHERE id = $1", [
    old.sessionId,
    clock.now().toISOString(),
  ]);
  t.strictSame(await idsOf(person), [person.sessionId]);
  t.equal((await end(person, old.sessionId)).status, 404);
});

await t.test("without a person's token all of it is 401", async (t) => {
  const person = await register(service);
  await call(service, "POST", "/api/auth/logout", { token: person.token });
  t.equal((await list(person)).status, 401);
  t.equal((await end(person, person.sessionId)).status, 401);
  t.equal((await endOthers(person)).status, 401);
});
