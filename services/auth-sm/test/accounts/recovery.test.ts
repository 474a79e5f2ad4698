import { randomBytes } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { logIn, loginProof, newEmail, sealed } from "../support/people.ts";
import { beginRecovery, protect, registerRecoverable, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
const startPath = "/api/auth/recovery/start";
const finishPath = "/api/auth/recovery/finish";
const minute = 60_000;

const finish = (body: object, at: { url: string } = service) => call(at, "POST", finishPath, { body });
const account = (token: string, at: { url: string } = service) => call(at, "GET", "/api/account", { token });
const wrongKey = () => randomBytes(32).toString("base64url");
const recordOf = (userId: string, action: string, reason: string) =>
  observer.record(
    `${action} of ${userId}`,
    (record) => record.action === action && record.reason === reason && record.actor.id === userId,
  );

await t.test("the recovery key gives the sealed keys, and then a session with a new password", async (t) => {
  const person = await registerRecoverable(service, "One");
  const { start, finish: body } = await beginRecovery(service, person, "new password");
  t.equal(start.status, 200);
  t.strictSame(Object.keys(start.body).sort(), [
    "encrypted_private_key",
    "encrypted_user_key",
    "public_key",
    "recovery_id",
    "registration_response",
  ]);
  t.equal(start.body.encrypted_user_key, person.recoverySealed);
  const answer = await finish(body, second);
  t.equal(answer.status, 200);
  t.match(answer.body, {
    token_type: "Bearer",
    user: { id: person.userId, email: person.email },
    encrypted_user_key: body["encrypted_user_key"],
    public_key: String,
    encrypted_private_key: String,
  });
  t.not(answer.body.session_id, person.sessionId);
  t.equal((await account(answer.body.access_token)).status, 200);
  t.equal((await logIn(service, { ...person, password: "new password" })).userId, person.userId);
  await t.rejects(loginProof(service, person), "the old password");
  for (const action of ["user.password.changed", "user.login.succeeded"]) {
    const record = await recordOf(person.userId, action, "recovery");
    t.match(record, {
      outcome: "success",
      actor: { session_id: answer.body.session_id },
      request: { route: finishPath },
    });
    t.type(record.org_id, "string");
  }
});

await t.test("every session from before ends, everywhere", async (t) => {
  const person = await registerRecoverable(service);
  const other = await logIn(service, person);
  const { finish: body } = await beginRecovery(service, person, "new password");
  const { access_token } = (await finish(body)).body;
  for (const { token, refreshToken, sessionId } of [person, other]) {
    for (const at of [service, second]) t.equal((await account(token, at)).status, 401);
    const answer = await call(service, "POST", "/api/auth/refresh", { body: { refresh_token: refreshToken } });
    t.equal(answer.body.error, "invalid_token");
    const news = await until("the news", () => observer.revocations.find((one) => one.session_id === sessionId));
    t.equal(news.reason, "password_changed");
  }
  t.equal((await account(access_token, second)).status, 200);
});

await t.test("a wrong key is 401 and on record; an unknown e-mail leaves none", async (t) => {
  const person = await registerRecoverable(service);
  const headers = { "x-request-id": "nobody" };
  t.equal((await beginRecovery(service, { ...person, proof: wrongKey() }, "x")).start.status, 401);
  const unknown = await beginRecovery(service, { email: newEmail(), proof: person.proof }, "x", headers);
  t.equal(unknown.start.status, 401);
  const record = await recordOf(person.userId, "user.login.failed", "invalid_credentials");
  t.match(record, { outcome: "failure", request: { method: "POST", route: startPath, status: 401 } });
  await until(
    "no row is left",
    async () => (await execute(service, "SELECT FROM auth_sm.login_starts WHERE refused_at IS NOT NULL")).length === 0,
  );
  t.notOk(observer.records.some(({ request }) => request.id === "nobody"));
});

await t.test("a recovery is good once, also 20 times at once at two replicas", async (t) => {
  const person = await registerRecoverable(service);
  const { finish: body } = await beginRecovery(service, person, "new password");
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => finish(body, index % 2 === 0 ? service : second)),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(401)]);
  t.ok(answers.every(({ status, body: { error } }) => status === 200 || error === "invalid_credentials"));
});

await t.test("a recovery key is good again, and a new one takes its place", async (t) => {
  const person = await registerRecoverable(service);
  const first = await beginRecovery(service, person, "first");
  t.equal((await finish(first.finish)).status, 200);
  const next = await beginRecovery(service, person, "second");
  const recovery = { proof_hash: "0".repeat(64), encrypted_user_key: sealed() };
  t.equal((await finish({ ...next.finish, recovery })).status, 200);
  t.equal((await beginRecovery(service, person, "third")).start.status, 401);
});

await t.test("a person is shown the user key as the recovery key opens it, and no other person's", async (t) => {
  const path = "/api/account/recovery";
  const person = await registerRecoverable(service);
  t.same((await call(service, "GET", path, person)).body, { encrypted_user_key: person.recoverySealed });
  const { finish: body } = await beginRecovery(service, person, "another");
  const next = sealed();
  const { body: session } = await finish({
    ...body,
    recovery: { proof_hash: "0".repeat(64), encrypted_user_key: next },
  });
  const shown = await call(service, "GET", path, { token: session.access_token });
  t.same(shown.body, { encrypted_user_key: next });
  t.equal((await call(service, "GET", path, {})).status, 401);
});

await t.test("a recovery may be finished for 60 s, and an unfinished one is recorded", async (t) => {
  const [inTime, late] = [await registerRecoverable(service), await registerRecoverable(service)];
  clock.stop();
  const good = await beginRecovery(service, inTime, "new password");
  const bad = await beginRecovery(service, late, "new password");
  clock.advance(59_999);
  t.equal((await finish(good.finish)).status, 200);
  clock.advance(1);
  t.match((await finish(bad.finish)).body, { error: "invalid_credentials", message: /recovery took too long$/ });
  t.match(await recordOf(late.userId, "user.login.failed", "unfinished"), {
    request: { route: startPath, status: 200 },
  });
});

await t.test("a login_id is no recovery_id, nor the other way round", async (t) => {
  const person = await registerRecoverable(service);
  const { finish: body, start } = await beginRecovery(service, person, "new password");
  const proof = await loginProof(service, person);
  t.equal((await finish({ ...body, recovery_id: proof.login_id })).status, 401);
  const login = { ...proof, login_id: start.body.recovery_id, finish_login_request: wrongProof };
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body: login })).status, 401);
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body: proof })).status, 200, "both are unspent");
  t.equal((await finish(body)).status, 200);
});

await t.test(
  "the finish requires a second factor, with five attempts at most; a recovery code works too",
  async (t) => {
    const person = await registerRecoverable(service);
    const safe = await protect(service, person);
    clock.advance(30_000);
    const { finish: body } = await beginRecovery(service, person, "new password");
    for (const otp of [undefined, "000000", "no code"]) {
      const answer = await finish({ ...body, otp });
      t.equal(answer.status, 401);
      t.equal(answer.body.error, "otp_required");
    }
    t.equal((await account(person.token)).status, 200, "nothing has changed");
    t.equal((await finish({ ...body, otp: safe.codeAt(clock.now()) })).status, 200);
    const again = await beginRecovery(service, person, "newer password");
    for (let time = 0; time < 5; time += 1) t.equal((await finish(again.finish)).body.error, "otp_required");
    const [code] = safe.recoveryCodes;
    t.equal((await finish({ ...again.finish, otp: code })).body.error, "invalid_credentials");
    const third = await beginRecovery(service, person, "newest password");
    t.equal((await finish({ ...third.finish, otp: code })).status, 200, "the code was not spent");
  },
);

await t.test("malformed fields are 400; an invalid record spends the recovery", async (t) => {
  const person = await registerRecoverable(service);
  const body = { email: person.email, proof: person.proof, registration_request: "A".repeat(43) };
  const noncanonical = person.proof.slice(0, -1) + "B";
  for (const wrong of [
    { email: "nobody" },
    { proof: undefined },
    { proof: "" },
    { proof: `${person.proof}A` },
    { proof: noncanonical },
    { registration_request: undefined },
    { registration_request: "AAAA" },
  ]) {
    const answer = await call(service, "POST", startPath, { body: { ...body, ...wrong } });
    t.equal(answer.status, 400, JSON.stringify(wrong));
  }
  const { finish: good } = await beginRecovery(service, person, "new password");
  for (const wrong of [{ recovery_id: "x" }, { device: undefined }, { encrypted_user_key: "" }, { otp: 7 }]) {
    t.equal((await finish({ ...good, ...wrong })).status, 400, JSON.stringify(wrong));
  }
  t.equal((await finish({ ...good, registration_record: "AAAA" })).status, 400);
  t.equal((await finish(good)).status, 401, "spent");
  t.equal((await logIn(service, person)).userId, person.userId, "with the password from before");
});

await t.test("unfinished recoveries delay the key holder's next recovery, and no login", async (t) => {
  const person = await registerRecoverable(service);
  for (let time = 0; time < 12; time += 1) {
    t.equal((await beginRecovery(service, { ...person, proof: wrongKey() }, "x")).start.status, 401);
  }
  for (let time = 0; time < 10; time += 1) t.equal((await beginRecovery(service, person, "x")).start.status, 200);
  const answer = (await beginRecovery(service, person, "x")).start;
  t.equal(answer.status, 429);
  t.equal(answer.headers.get("retry-after"), "60");
  t.equal((await beginRecovery(service, { ...person, proof: wrongKey() }, "x")).start.status, 401);
  clock.advance(minute);
  const { finish: body } = await beginRecovery(service, person, "new password");
  t.equal((await finish(body)).status, 200);
  t.equal((await beginRecovery(service, person, "x")).start.status, 200, "the count is cleared");
});
