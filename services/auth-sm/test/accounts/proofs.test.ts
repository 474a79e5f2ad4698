import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { beginLogin, logIn, loginProof, type Person, register } from "../support/people.ts";
import { changePassword, newPassword, proofOf, protect, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

// What every act has in common that needs a fresh proof of the password.

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;

const acts = [
  ["POST", "/api/auth/totp", "user.totp.enabled"],
  ["DELETE", "/api/auth/totp", "user.totp.disabled"],
  ["POST", "/api/auth/password", "user.password.changed"],
] as const;
const startTotp = ({ token }: Person, body?: unknown, at: { url: string } = service) =>
  call(at, "POST", "/api/auth/totp", { token, body });

await t.test("without a proof, with half of one and with a wrong one every act is 403 and on record", async (t) => {
  const person = await register(service, { orgName: "One" });
  await call(service, "POST", "/api/orgs", { token: person.token, body: { name: "Two" } });
  const change = await newPassword(service, person, "another");
  const { login_id, finish_login_request } = await proofOf(service, person);
  const unknown = login_id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  for (const [method, path, action] of acts) {
    const rest = path.endsWith("password") ? change : {};
    const wrong = [
      {},
      { login_id },
      { finish_login_request },
      { login_id: "x", finish_login_request },
      { login_id: "", finish_login_request },
      { login_id: unknown, finish_login_request },
      { login_id: (await proofOf(service, person)).login_id, finish_login_request: wrongProof },
      { login_id: (await proofOf(service, person)).login_id, finish_login_request: "no message" },
    ];
    const id = `${method}-${action}`;
    for (const proof of wrong) {
      const headers = { "x-request-id": id };
      const answer = await call(service, method, path, { token: person.token, headers, body: { ...rest, ...proof } });
      t.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(proof)}`);
      t.equal(answer.body.error, "reauth_required");
    }
    const records = () => observer.records.filter((record) => record.request.id === id && record.action === action);
    await until("a record in each organization", () => records().length === 2 * wrong.length);
    t.equal(new Set(records().map(({ org_id }) => org_id)).size, 2);
    for (const record of records()) {
      t.match(record, {
        outcome: "denied",
        reason: "reauth_required",
        actor: { type: "user", id: person.userId, session_id: person.sessionId },
        target: { type: "user", id: person.userId },
        request: { method, route: path, status: 403 },
      });
    }
    await execute(service, "TRUNCATE auth_sm.login_counts");
  }
  t.match((await startTotp(person, { login_id, finish_login_request })).status, 200, "the right one was spent by none");
});

await t.test("a request without a body is one without a proof", async (t) => {
  const { token } = await register(service);
  for (const method of ["POST", "DELETE"]) {
    const answer = await call(service, method, "/api/auth/totp", { token });
    t.equal(answer.status, 403, method);
    t.equal(answer.body.error, "reauth_required");
  }
});

await t.test("fields in the wrong form are 400", async (t) => {
  const { token } = await register(service);
  for (const body of [{ login_id: 7 }, { finish_login_request: [] }, { otp: 123456 }, { otp: "1".repeat(65) }, []]) {
    const answer = await call(service, "POST", "/api/auth/totp", { token, body });
    t.equal(answer.status, 400, JSON.stringify(body));
  }
});

await t.test("a wrong proof spends its start, and is a failed login on record", async (t) => {
  const person = await register(service);
  const proof = await proofOf(service, person);
  t.equal((await startTotp(person, { ...proof, finish_login_request: wrongProof })).status, 403);
  t.equal((await startTotp(person, proof)).status, 403, "the right one comes too late");
  const record = await observer.record(
    "the failure",
    ({ action, target }) => action === "user.login.failed" && target.id === person.userId,
  );
  t.match(record, {
    outcome: "failure",
    reason: "invalid_credentials",
    request: { method: "POST", route: "/api/auth/totp", status: 403 },
  });
});

await t.test("a proof is good once, also 20 times at once at two replicas, and not for a login besides", async (t) => {
  const person = await register(service);
  const proof = await loginProof(service, person);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => startTotp(person, proof, index % 2 === 0 ? service : second)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  t.strictSame(statuses, [200, ...Array<number>(19).fill(403)]);
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body: proof })).status, 401);
});

await t.test("another's proof is none, and is spent", async (t) => {
  const [ada, eve] = [await register(service), await register(service)];
  const proof = await proofOf(service, eve);
  t.equal((await startTotp(ada, proof)).status, 403);
  t.equal((await startTotp(eve, proof)).status, 403);
});

await t.test("a proof is good for 60 s, not longer", async (t) => {
  const person = await register(service);
  clock.stop();
  const [inTime, late] = [await proofOf(service, person), await proofOf(service, person)];
  clock.advance(59_999);
  t.equal((await startTotp(person, inTime)).status, 200);
  clock.advance(1);
  t.equal((await startTotp(person, late)).status, 403);
});

await t.test("with a second factor the code is required, with five attempts at most", async (t) => {
  const person = await protect(service, await register(service));
  clock.advance(30_000);
  const proof = await proofOf(service, person);
  for (const otp of [undefined, "", "000000", "not a code"]) {
    const answer = await startTotp(person, { ...proof, otp });
    t.equal(answer.status, 403);
    t.match(answer.body, { error: "reauth_required", details: [{ field: "otp" }] });
  }
  t.equal((await startTotp(person, { ...proof, otp: person.codeAt(clock.now()) })).status, 200, "the fifth is right");
  clock.advance(30_000);
  const another = await proofOf(service, person);
  for (let time = 0; time < 5; time += 1) await startTotp(person, another);
  const sixth = await startTotp(person, { ...another, otp: person.codeAt(clock.now()) });
  t.equal(sixth.status, 403);
  t.notOk(sixth.body.details, "nothing is said of the password any more");
});

await t.test("a start from before the password changed proves nothing after it", async (t) => {
  const person = await register(service);
  const login = await loginProof(service, person);
  const proof = await proofOf(service, person);
  const changed = await changePassword(service, person, "another password");
  t.equal(changed.status, 200);
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body: login })).status, 401);
  t.equal((await startTotp({ ...person, token: changed.body.access_token }, proof)).status, 403);
});

await t.test("a person without a session proves nothing, also when it ends meanwhile", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const proof = await proofOf(service, person);
  t.equal((await startTotp({ ...person, token: "" }, proof)).status, 401);
  await call(service, "DELETE", `/api/auth/sessions/${other.sessionId}`, { token: person.token });
  t.equal((await startTotp(other, proof)).status, 401);
  t.equal((await startTotp(person, proof)).status, 200, "and spends nothing");
  t.equal((await beginLogin(service, person)).start.status, 200);
});
