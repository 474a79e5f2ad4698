import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { beginLogin, device, loginProof, newEmail, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock, observer } = service;
const start = "/api/auth/login/start";
const finish = "/api/auth/login/finish";

const failureOf = (userId: string, reason: string) =>
  observer.record(
    `${reason} of ${userId}`,
    (record) => record.action === "user.login.failed" && record.target.id === userId && record.reason === reason,
  );

/** As long as a real one, and wrong. */
const wrongProof = Buffer.alloc(64, 7).toString("base64url");

await t.test("login/finish answers like register/finish, with a session of its own", async (t) => {
  const person = await register(service, { orgName: "One" });
  await call(service, "POST", "/api/orgs", { token: person.token, body: { name: "Two" } });
  const answer = await call(service, "POST", finish, { body: await loginProof(service, person) });
  t.equal(answer.status, 200);
  t.match(answer.body, {
    token_type: "Bearer",
    expires_in: 900,
    refresh_expires_in: 2592000,
    user: { id: person.userId, email: person.email },
    encrypted_user_key: String,
    public_key: String,
    encrypted_private_key: String,
  });
  t.not(answer.body.session_id, person.sessionId);
  await until("a record in each organization", () => {
    const records = observer.records.filter(
      ({ action, actor }) => action === "user.login.succeeded" && actor.session_id === answer.body.session_id,
    );
    return records.length === 2 && new Set(records.map(({ org_id }) => org_id)).size === 2;
  });
});

await t.test("a wrong proof is 401 and recorded, and the start is spent", async (t) => {
  const person = await register(service);
  const proof = await loginProof(service, person);
  const headers = { "x-request-id": `wrong-${person.userId}`, "user-agent": "a test" };
  const body = { ...proof, finish_login_request: wrongProof };
  const answer = await call(service, "POST", finish, { body, headers });
  t.equal(answer.status, 401);
  t.equal(answer.body.error, "invalid_credentials");
  t.equal(answer.headers.get("www-authenticate"), "Bearer");
  t.equal((await call(service, "POST", finish, { body: proof })).status, 401, "the right proof comes too late");
  t.match(await failureOf(person.userId, "invalid_credentials"), {
    org_id: null,
    outcome: "failure",
    actor: { type: "user", id: person.userId },
    source: { user_agent: "a test" },
    request: { id: headers["x-request-id"], route: finish, status: 401 },
  });
});

await t.test(
  "a start is good for one login: replayed, also 20 times at once, it gives no second session",
  async (t) => {
    const person = await register(service);
    const body = await loginProof(service, person);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(service, "POST", finish, { body })));
    const statuses = answers.map(({ status }) => status).sort();
    t.strictSame(statuses, [200, ...Array<number>(19).fill(401)]);
    t.equal((await call(service, "POST", finish, { body })).status, 401);
  },
);

await t.test("an unknown e-mail leaves no row and no audit record once its time is over", async (t) => {
  const person = await register(service);
  await beginLogin(service, { email: newEmail(), password: "whatever" }, { "x-request-id": "nobody" });
  await beginLogin(service, person);
  clock.advance(60_000);
  await failureOf(person.userId, "unfinished");
  const client = new pg.Client({ connectionString: service.postgres.url });
  await client.connect();
  t.teardown(() => client.end());
  await until("the row is gone", async () => {
    const { rows } = await client.query("SELECT FROM auth_sm.login_starts");
    return rows.length === 0;
  });
  t.strictSame(
    observer.records.filter(({ request }) => request.id === "nobody"),
    [],
  );
});

await t.test("a login may be finished for 60 s, and an unfinished one is recorded", async (t) => {
  const person = await register(service, { orgName: "Slow" });
  clock.stop();
  const inTime = await loginProof(service, person);
  const tooLate = await loginProof(service, person);
  clock.advance(59_999);
  t.equal((await call(service, "POST", finish, { body: inTime })).status, 200);
  clock.advance(1);
  const answer = await call(service, "POST", finish, { body: tooLate });
  t.equal(answer.status, 401);
  t.equal(answer.body.error, "invalid_credentials");
  const record = await failureOf(person.userId, "unfinished");
  t.match(record, { outcome: "failure", request: { route: start, method: "POST" }, target: { type: "user" } });
  t.type(record.org_id, "string", "in the chain of the person's organization");
});

await t.test("two replicas record a failure once", async (t) => {
  const person = await register(service);
  await service.replica();
  for (let round = 0; round < 5; round += 1) await beginLogin(service, person);
  clock.advance(60_000);
  const failures = () =>
    observer.records.filter(({ action, target }) => action === "user.login.failed" && target.id === person.userId);
  await until("five records", () => failures().length >= 5);
  // A further failure has gone the same way behind them.
  await beginLogin(service, person);
  clock.advance(60_000);
  await until("the sixth record", () => failures().length >= 6);
  t.equal(failures().length, 6);
});

await t.test("an invalid OPAQUE message is 400; at finish it spends the start", async (t) => {
  const person = await register(service);
  for (const start_login_request of [undefined, "", "AAAA", "!", Buffer.alloc(96, 255).toString("base64url")]) {
    const answer = await call(service, "POST", start, { body: { email: person.email, start_login_request } });
    t.equal(answer.status, 400, String(start_login_request));
  }
  const proof = await loginProof(service, person);
  for (const finish_login_request of ["AAAA", `${proof.finish_login_request}AAAA`, "!"]) {
    const { start } = await beginLogin(service, person);
    const body = { login_id: start.body.login_id, finish_login_request, device };
    const answer = await call(service, "POST", finish, { body });
    t.equal(answer.status, 400, finish_login_request);
    t.equal((await call(service, "POST", finish, { body })).status, 401, "spent");
  }
  for (const body of [
    { ...proof, login_id: "x" },
    { ...proof, device: undefined },
    { ...proof, login_id: undefined },
  ]) {
    t.equal((await call(service, "POST", finish, { body })).status, 400);
  }
  t.equal((await call(service, "POST", finish, { body: proof })).status, 200, "a body that named no start spent none");
});

await t.test("a login for one person does not finish another's", async (t) => {
  const [ada, eve] = [await register(service), await register(service, { password: "another password" })];
  const { start } = await beginLogin(service, ada);
  const proof = await loginProof(service, eve);
  const body = { ...proof, login_id: start.body.login_id };
  t.equal((await call(service, "POST", finish, { body })).status, 401);
});
