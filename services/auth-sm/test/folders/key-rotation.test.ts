import { startRegistration } from "@coffer/crypto/opaque";
import { signingKeys } from "@coffer/events";
import { until } from "@coffer/testkit";
import { decodeProtectedHeader } from "jose";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { beginLogin, logIn, newEmail, register, registration } from "../support/people.ts";
import { beginRecovery, changePassword, newPassword, proofOf, registerRecoverable } from "../support/proofs.ts";
import { runRotation } from "../support/run-rotation.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
const replicas = [service, second];

const rotate = (args: string[], environment?: Record<string, string>) => runRotation(service, args, environment);

const kidsAt = async (at: { url: string }) =>
  (await call(at, "GET", "/.well-known/jwks.json")).body.keys.map(({ kid }) => kid);
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const account = (token: string, at: { url: string }) => call(at, "GET", "/api/account", { token });
const refresh = (refresh_token: string, at: { url: string }) =>
  call(at, "POST", "/api/auth/refresh", { body: { refresh_token } });
const setupsInUse = async () =>
  (
    (await execute(service, "SELECT DISTINCT opaque_setup_id AS id FROM auth_sm.users ORDER BY 1")) as { id: number }[]
  ).map(({ id }) => id);

/**
 * The public key of the setup by which a registration is answered: the second half of the answer
 * (RFC 9807, 5.2).
 */
const { registrationRequest: registration_request } = await startRegistration("x");
const setupKey = async (at: { url: string }) => {
  const body = { email: newEmail(), registration_request };
  const { body: answer } = await call(at, "POST", "/api/auth/register/start", { body });
  return Buffer.from(answer.registration_response, "base64url").toString("hex", 32);
};

await t.test("two rotations one after the other leave every token good", async (t) => {
  const person = await register(service);
  for (let time = 0; time < 2; time += 1) t.equal((await rotate(["signing-key"])).code, 0);
  for (const at of replicas) await until("three keys", async () => (await kidsAt(at)).length === 3);
  for (const at of replicas) t.equal((await account(person.token, at)).status, 200);
});

await t.test(
  "a new signing key is published at once, used after 30 s, and the old one stays for a token's life",
  async (t) => {
    const person = await register(service);
    const before = await kidsAt(service);
    const old = kidOf(person.token);
    const done = await rotate(["signing-key"]);
    t.equal(done.code, 0, done.err);
    t.match(done.out, /30 seconds/);
    for (const at of replicas)
      await until("the new key is published", async () => (await kidsAt(at)).length === before.length + 1);
    const [fresh] = await kidsAt(service);
    t.notOk(before.includes(String(fresh)));
    const early = await refresh(person.refreshToken, service);
    t.equal(kidOf(early.body.access_token), old, "not used before all services know it");
    clock.advance(30_000);
    let { refresh_token } = early.body;
    const token = await until("a token of the new key", async () => {
      const { body } = await refresh(refresh_token, service);
      ({ refresh_token } = body);
      return kidOf(body.access_token) === fresh && body.access_token;
    });
    for (const at of replicas) {
      t.equal((await account(token, at)).status, 200);
      t.equal((await account(early.body.access_token, at)).status, 200, "what the old key signed is good");
    }
    const { keys } = await observer.bus.request(signingKeys, {});
    t.strictSame(keys.map(({ kid }) => kid).sort(), [fresh, ...before].sort(), "over the bus too");
    clock.advance(900_000 - 5000);
    t.ok((await kidsAt(service)).includes(String(old)), "while a token of it lives");
    clock.advance(70_000);
    for (const at of replicas) await until("the old keys are gone", async () => (await kidsAt(at)).join() === fresh);
  },
);

await t.test("a revoked key invalidates what it has signed, and the new key is used at once", async (t) => {
  const person = await register(service);
  const before = await kidsAt(service);
  const done = await rotate(["signing-key", "--withdraw-old"]);
  t.equal(done.code, 0, done.err);
  for (const at of replicas) {
    await until("the new key alone", async () => {
      const kids = await kidsAt(at);
      return kids.length === 1 && !before.includes(String(kids[0]));
    });
    await until("the token is refused", async () => (await account(person.token, at)).status === 401);
    const { status, body } = await refresh(person.refreshToken, at);
    t.equal(status, 200, "the session goes on");
    t.strictSame([kidOf(body.access_token)], await kidsAt(at));
  }
});

await t.test("what began under an old setup is finished under it, and logs in when there is a new one", async (t) => {
  const recoverable = await registerRecoverable(service);
  const changing = await register(service);
  const before = await register(service);
  const first = await setupKey(service);

  const registering = await registration(service);
  const change = await newPassword(service, changing, "changed");
  const recovery = await beginRecovery(service, recoverable, "recovered");

  t.equal((await rotate(["opaque-setup"])).code, 0);
  clock.advance(31_000);
  for (const at of replicas) await until("the new setup is used", async () => (await setupKey(at)) !== first);
  const registered = await call(second, "POST", "/api/auth/register/finish", { body: registering });
  t.equal(registered.status, 201);
  const changed = await call(second, "POST", "/api/auth/password", {
    token: changing.token,
    body: { ...(await proofOf(service, changing)), ...change },
  });
  t.equal(changed.status, 200);
  const recovered = await call(second, "POST", "/api/auth/recovery/finish", { body: recovery.finish });
  t.equal(recovered.status, 200);
  t.equal((await setupsInUse()).length, 1, "all of them are records of the old setup");

  const after = await register(service);
  t.equal((await changePassword(service, before, "newer")).status, 200);
  t.equal((await setupsInUse()).length, 2);
  for (const at of replicas) {
    await logIn(at, { email: registering.email, password: "correct horse battery staple" });
    await logIn(at, { ...changing, password: "changed" });
    await logIn(at, { ...recoverable, password: "recovered" });
    await logIn(at, { ...before, password: "newer" });
    await logIn(at, after);
  }
});

await t.test("a registration under two setups is refused", async (t) => {
  const email = newEmail();
  const first = await setupKey(service);
  const body = await registration(service, { email });
  t.equal((await rotate(["opaque-setup"])).code, 0);
  clock.advance(31_000);
  for (const at of replicas) await until("the new setup is used", async () => (await setupKey(at)) !== first);
  await call(service, "POST", "/api/auth/register/start", { body: { email, registration_request } });
  const answer = await call(service, "POST", "/api/auth/register/finish", { body });
  t.equal(answer.status, 400);
  t.match(answer.body, { error: "invalid_request", details: [{ field: "registration_record" }] });
  clock.advance(10 * 60_000);
  await register(service, { email });
});

await t.test("a registration is finished within 10 minutes of its start, and not without one", async (t) => {
  const [early, late] = [await registration(service), await registration(service)];
  const finish = (body: object) => call(service, "POST", "/api/auth/register/finish", { body });
  t.equal((await finish({ ...early, email: newEmail() })).status, 400, "another e-mail began nothing");
  clock.stop();
  const inTime = await registration(service);
  clock.advance(10 * 60_000 - 1);
  t.equal((await finish(inTime)).status, 201);
  t.equal((await finish(late)).status, 400);
});

await t.test("a setup goes with its last record, an hour after it was replaced", async (t) => {
  const ids = async () =>
    ((await execute(service, "SELECT id FROM auth_sm.opaque_setups ORDER BY id")) as { id: number }[]).map(
      ({ id }) => id,
    );
  const [oldest, middle, newest, ...more] = await ids();
  t.strictSame(more, []);
  t.strictSame(await setupsInUse(), [oldest, middle, newest]);
  const person = await register(service);
  await execute(service, "DELETE FROM auth_sm.users WHERE opaque_setup_id = $1", [middle]);
  clock.advance(60 * 60_000 + 60_000);
  await until("the one in the middle is gone", async () => (await ids()).join() === [oldest, newest].join());
  await execute(service, "DELETE FROM auth_sm.users WHERE opaque_setup_id = $1", [oldest]);
  await until("the newest alone is left", async () => (await ids()).join() === String(newest));
  t.equal((await logIn(second, person)).userId, person.userId);
  t.equal(
    (await beginLogin(service, { email: newEmail(), password: "x" })).start.status,
    200,
    "also with an unknown e-mail",
  );
});

await t.test("the command names its missing arguments", async (t) => {
  for (const args of [[], ["everything"], ["signing-key", "opaque-setup"], ["--withdraw-old"], ["constructor"]]) {
    const { code, err } = await rotate(args);
    t.equal(code, 2, args.join(" "));
    t.match(err, /signing-key .*opaque-setup/);
  }
  const lost = await rotate(["signing-key"], { COFFER_POSTGRES_URL: "postgres://nobody:secret@127.0.0.1:1/none" });
  t.equal(lost.code, 1);
  t.notMatch(lost.err, /secret|at file/);
  const unset = await rotate(["signing-key"], { COFFER_POSTGRES_URL: "" });
  t.equal(unset.code, 1);
  t.match(unset.err, /COFFER_POSTGRES_URL/);
});
