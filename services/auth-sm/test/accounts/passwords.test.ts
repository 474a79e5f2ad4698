import { until } from "@coffer/testkit";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { logIn, loginProof, type Person, register, sealed } from "../support/people.ts";
import {
  beginRecovery,
  changePassword,
  newPassword,
  proofOf,
  protect,
  registerRecoverable,
} from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
const path = "/api/auth/password";

const account = ({ token }: { token: string }, at: { url: string } = service) =>
  call(at, "GET", "/api/account", { token });
const refresh = (refresh_token: string) => call(service, "POST", "/api/auth/refresh", { body: { refresh_token } });
const change = (person: Person, body: object) => call(service, "POST", path, { token: person.token, body });
const login = async (email: string, password: string): Promise<Answer | null> => {
  // A wrong password shows on the client already.
  const body = await loginProof(service, { email, password }).catch(() => null);
  return body === null ? null : call(service, "POST", "/api/auth/login/finish", { body });
};

await t.test(
  "the new password logs in and the old one does not; the answer is a login's, in the same session",
  async (t) => {
    const person = await register(service, { orgName: "One" });
    const { registration_record, encrypted_user_key } = await newPassword(service, person, "another password");
    const answer = await change(person, {
      ...(await proofOf(service, person)),
      registration_record,
      encrypted_user_key,
    });
    t.equal(answer.status, 200);
    const { access_token, refresh_token, user, ...rest } = answer.body;
    t.match(user, { id: person.userId, email: person.email });
    t.match(rest, {
      token_type: "Bearer",
      expires_in: 900,
      refresh_expires_in: 2592000,
      session_id: person.sessionId,
      encrypted_user_key,
      public_key: String,
      encrypted_private_key: String,
    });
    t.equal((await account({ token: access_token })).status, 200);
    t.equal((await refresh(refresh_token)).status, 200);
    t.equal(await login(person.email, person.password), null);
    const again = await login(person.email, "another password");
    t.equal(again?.status, 200);
    t.equal(again?.body.encrypted_user_key, encrypted_user_key);
    const record = await observer.record(
      "the change",
      ({ action, target }) => action === "user.password.changed" && target.id === person.userId,
    );
    t.match(record, {
      outcome: "success",
      actor: { type: "user", id: person.userId, session_id: person.sessionId },
      request: { method: "POST", route: path, status: 200 },
    });
    t.type(record.org_id, "string");
  },
);

await t.test("every other session ends at once, everywhere", async (t) => {
  const person = await register(service);
  const others = [await logIn(service, person), await logIn(second, person)];
  t.equal((await changePassword(service, person, "another password")).status, 200);
  for (const other of others) {
    t.equal((await account(other)).status, 401);
    t.equal((await account(other, second)).status, 401);
    t.equal((await refresh(other.refreshToken)).body.error, "invalid_token");
    const news = await until("the news", () => observer.revocations.find((one) => one.session_id === other.sessionId));
    t.equal(news.reason, "password_changed");
  }
  t.equal((await account(person, second)).status, 200, "an access token from before is good for the rest of its life");
  t.notOk(observer.revocations.some((one) => one.session_id === person.sessionId));
});

await t.test("the refresh token from before is good no more, and ends the session only when shown late", async (t) => {
  const person = await register(service);
  clock.stop();
  const { body } = await changePassword(service, person, "another password");
  clock.advance(60_000);
  t.equal((await refresh(person.refreshToken)).body.error, "invalid_token", "an answer may have been lost");
  t.equal((await account({ token: body.access_token })).status, 200);
  clock.advance(1);
  t.equal((await refresh(person.refreshToken)).body.error, "token_reused");
  t.equal((await account({ token: body.access_token })).status, 401);
});

await t.test("a login that is under way at both replicas gives no session of the old password", async (t) => {
  const person = await register(service);
  const { registration_record, encrypted_user_key } = await newPassword(service, person, "another password");
  const proof = await proofOf(service, person);
  const logins = await Promise.all([0, 1, 2, 3].map(() => loginProof(service, person)));
  const [changed, ...finished] = await Promise.all([
    change(person, { ...proof, registration_record, encrypted_user_key }),
    ...logins.map((body, index) =>
      call(index % 2 === 0 ? service : second, "POST", "/api/auth/login/finish", { body }),
    ),
  ]);
  t.equal(changed.status, 200);
  for (const { status, body } of finished) {
    t.ok([200, 401].includes(status));
    if (status === 200)
      t.equal((await account({ token: body.access_token })).status, 401, "it began before the change");
  }
});

await t.test("two changes at once: one wins, and its password is the one", async (t) => {
  const person = await register(service);
  const passwords = ["first", "second"];
  // Both are begun under one setup; each finish is good for one of them.
  const bodies = [];
  for (const password of passwords) {
    bodies.push({ ...(await newPassword(service, person, password)), ...(await proofOf(service, person)) });
  }
  const answers = await Promise.all(bodies.map((body) => change(person, body)));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 403]);
  const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? "";
  t.equal((await login(person.email, winner))?.status, 200);
});

await t.test("a new recovery key takes the place of the old one; without one the old one stays", async (t) => {
  const person = await registerRecoverable(service);
  t.equal((await changePassword(service, person, "another password")).status, 200);
  const kept = await beginRecovery(service, person, "x");
  t.equal(kept.start.status, 200);
  t.equal(kept.start.body.encrypted_user_key, person.recoverySealed);
  const other = await registerRecoverable(service);
  const proof_hash = "0".repeat(64);
  const recovery = { proof_hash, encrypted_user_key: sealed() };
  t.equal((await changePassword(service, other, "another password", { recovery })).status, 200);
  t.equal((await beginRecovery(service, other, "x")).start.status, 401);
  const rows = await execute(service, "SELECT recovery_proof_hash AS hash FROM auth_sm.users WHERE id = $1", [
    other.userId,
  ]);
  t.strictSame(rows, [{ hash: proof_hash }]);
});

await t.test("missing or malformed fields are 400 and change nothing", async (t) => {
  const person = await register(service);
  const body = await newPassword(service, person, "another password");
  for (const wrong of [
    { registration_record: undefined },
    { registration_record: "" },
    { encrypted_user_key: undefined },
    { encrypted_user_key: "no base64!" },
    { recovery: { proof_hash: "00", encrypted_user_key: sealed() } },
  ]) {
    t.equal((await change(person, { ...body, ...wrong })).status, 400, JSON.stringify(wrong));
  }
  for (const registration_record of ["AAAA", Buffer.alloc(192, 255).toString("base64url")]) {
    const proof = await proofOf(service, person);
    t.equal((await change(person, { ...body, ...proof, registration_record })).status, 400);
    t.equal((await change(person, { ...body, ...proof })).status, 403, "the proof is spent");
  }
  const over = { ...body, encrypted_user_key: sealed(48 * 1024 + 3) };
  t.equal((await change(person, over)).status, 413);
  for (const registration_request of [undefined, "AAAA", 7]) {
    const answer = await call(service, "POST", `${path}/start`, {
      token: person.token,
      body: { registration_request },
    });
    t.equal(answer.status, 400);
  }
  t.equal((await login(person.email, person.password))?.status, 200);
});

await t.test("a change that this session did not begin, or began long ago, is 400", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const foreign = await newPassword(service, other, "another password");
  t.equal((await change(person, { ...foreign, ...(await proofOf(service, person)) })).status, 400);
  const slow = await register(service);
  clock.stop();
  const [body, late] = [await newPassword(service, person, "in time"), await newPassword(service, slow, "late")];
  clock.advance(10 * 60_000 - 1);
  const [proof, lateProof] = [await proofOf(service, person), await proofOf(service, slow)];
  t.equal((await change(person, { ...body, ...proof })).status, 200);
  clock.advance(1);
  t.equal((await change(slow, { ...late, ...lateProof })).status, 400);
});

await t.test("a second factor that is on is required", async (t) => {
  const person = await protect(service, await register(service));
  clock.advance(30_000);
  const body = { ...(await newPassword(service, person, "another password")), ...(await proofOf(service, person)) };
  const missing = await change(person, body);
  t.equal(missing.status, 403);
  t.match(missing.body.details, [{ field: "otp" }]);
  t.equal((await change(person, { ...body, otp: person.codeAt(clock.now()) })).status, 200);
});

await t.test("without a person's token it is 401", async (t) => {
  for (const end of [path, `${path}/start`]) t.equal((await call(service, "POST", end, { body: {} })).status, 401);
});
