import { until } from "@coffer/testkit";
import { Secret } from "otpauth";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { logIn, type Person, register } from "../support/people.ts";
import { codeAt, proofOf, protect } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t, { COFFER_ACCESS_TOKEN_SECONDS: "86400" });
const second = await service.replica();
const { clock, observer } = service;
clock.stop();
const path = "/api/auth/totp";
const step = 30_000;

const start = async (person: Person, otp?: string) =>
  call(service, "POST", path, { token: person.token, body: await proofOf(service, person, otp) });
const verify = ({ token }: Person, otp: unknown, at: { url: string } = service) =>
  call(at, "POST", `${path}/verify`, { token, body: { otp } });
const isOn = async ({ token }: Person) => (await call(service, "GET", "/api/account", { token })).body.totp_enabled;
const statusOf = async ({ token }: Person) => (await call(second, "GET", "/api/account", { token })).status;

await t.test("a secret is for an authenticator, and is on when its code is verified", async (t) => {
  const person = await register(service, { orgName: "One" });
  const started = await start(person);
  t.equal(started.status, 200);
  t.strictSame(Object.keys(started.body), ["secret", "otpauth_url"]);
  const { secret, otpauth_url } = started.body;
  t.match(secret, /^[A-Z2-7]{32}$/);
  const url = new URL(otpauth_url);
  t.match(url, { protocol: "otpauth:", host: "totp", pathname: `/Coffer:${encodeURIComponent(person.email)}` });
  t.match(Object.fromEntries(url.searchParams), {
    secret,
    issuer: "Coffer",
    algorithm: "SHA1",
    digits: "6",
    period: "30",
  });
  t.equal(await isOn(person), false);
  await logIn(service, person);
  const verified = await verify(person, codeAt(secret, clock.now()));
  t.equal(verified.status, 200);
  t.strictSame(Object.keys(verified.body), ["recovery_codes"]);
  const codes = verified.body.recovery_codes;
  t.equal(new Set(codes).size, 10);
  for (const code of codes) t.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  t.equal(await isOn(person), true);
  const record = await observer.record(
    "it",
    ({ action, target }) => action === "user.totp.enabled" && target.id === person.userId,
  );
  t.match(record, {
    outcome: "success",
    actor: { session_id: person.sessionId },
    request: { route: `${path}/verify`, status: 200 },
  });
  t.type(record.org_id, "string");
});

await t.test("turning it on or off ends every other session", async (t) => {
  const person = await register(service);
  const before = await logIn(service, person);
  const safe = await protect(service, person);
  t.equal(await statusOf(before), 401);
  t.equal(await statusOf(person), 200);
  clock.advance(step);
  const proof = await proofOf(service, person, safe.codeAt(clock.now()));
  t.equal((await call(service, "DELETE", path, { token: person.token, body: proof })).status, 204);
  t.equal(await isOn(person), false);
  t.equal(await statusOf(person), 200);
  await logIn(service, person);
  const news = await until("the news", () => observer.revocations.find((one) => one.session_id === before.sessionId));
  t.equal(news.reason, "second_factor_changed");
  const record = await observer.record(
    "it",
    ({ action, target }) => action === "user.totp.disabled" && target.id === person.userId,
  );
  t.match(record, { outcome: "success", request: { method: "DELETE", route: path, status: 204 } });
});

await t.test("turning it off ends the other sessions too", async (t) => {
  const safe = await protect(service);
  clock.advance(step);
  const { login_id, finish_login_request } = await proofOf(service, safe);
  const device = { id: "2", name: "another", type: "cli" };
  const body = { login_id, finish_login_request, device, otp: safe.codeAt(clock.now()) };
  const other = await call(service, "POST", "/api/auth/login/finish", { body });
  t.equal(other.status, 200);
  clock.advance(step);
  const proof = await proofOf(service, safe, safe.codeAt(clock.now()));
  t.equal((await call(service, "DELETE", path, { token: safe.token, body: proof })).status, 204);
  t.equal(await statusOf({ ...safe, token: other.body.access_token }), 401);
});

await t.test("a code is verified from a step before to a step after its own, and no further", async (t) => {
  for (const [steps, status] of [
    [-2, 400],
    [-1, 200],
    [1, 200],
    [2, 400],
  ] as const) {
    const person = await register(service);
    const { body } = await start(person);
    const answer = await verify(person, codeAt(body.secret, new Date(clock.now().getTime() + steps * step)));
    t.equal(answer.status, status, `${steps} steps`);
    if (status === 400) t.match(answer.body, { error: "invalid_request", details: [{ field: "otp" }] });
  }
});

await t.test("a secret is tried five times at most, also 20 times at once", async (t) => {
  const person = await register(service);
  const { body } = await start(person);
  const right = codeAt(body.secret, clock.now());
  const wrong = (["000000", "111111"] as const).find((code) => code !== right) ?? "";
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => verify(person, wrong, index % 2 === 0 ? service : second)),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [
    ...Array<number>(5).fill(400),
    ...Array<number>(15).fill(409),
  ]);
  t.equal((await verify(person, right)).status, 409);
  const { body: again } = await start(person);
  for (let time = 0; time < 4; time += 1) t.equal((await verify(person, "no code")).status, 400);
  t.equal((await verify(person, codeAt(again.secret, clock.now()))).status, 200, "the fifth is right");
});

await t.test("a secret waits for 15 minutes, for the session that requested it, and is verified once", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const { body } = await start(person);
  t.equal((await verify(other, codeAt(body.secret, clock.now()))).status, 409);
  t.equal((await verify(await register(service), codeAt(body.secret, clock.now()))).status, 409);
  clock.advance(15 * 60_000 - 1);
  const { body: newer } = await start(other);
  t.equal((await verify(person, codeAt(body.secret, clock.now()))).status, 409, "a newer one is in its place");
  clock.advance(15 * 60_000 - 1);
  t.equal((await verify(other, codeAt(newer.secret, clock.now()))).status, 200);
  t.equal((await verify(other, codeAt(newer.secret, clock.now()))).status, 409);
  const late = await register(service);
  const { body: lost } = await start(late);
  clock.advance(15 * 60_000);
  t.equal((await verify(late, codeAt(lost.secret, clock.now()))).status, 409);
  t.equal((await verify(await register(service), "000000")).status, 409, "nothing was asked for");
  for (const otp of [undefined, 7, "1".repeat(65)]) t.equal((await verify(other, otp)).status, 400);
});

await t.test("a new secret takes the place of the old one when it is verified, with new recovery codes", async (t) => {
  const safe = await protect(service);
  clock.advance(step);
  const { body } = await start(safe, safe.codeAt(clock.now()));
  clock.advance(step);
  const proof = await proofOf(service, safe);
  t.equal(
    (
      await call(service, "DELETE", path, {
        token: safe.token,
        body: { ...proof, otp: codeAt(body.secret, clock.now()) },
      })
    ).status,
    403,
  );
  const verified = await verify(safe, codeAt(body.secret, clock.now()));
  t.equal(verified.status, 200);
  clock.advance(step);
  const remove = (otp: string | undefined) =>
    proofOf(service, safe, otp).then((fields) => call(service, "DELETE", path, { token: safe.token, body: fields }));
  t.equal((await remove(safe.codeAt(clock.now()))).status, 403, "the old secret");
  t.equal((await remove(safe.recoveryCodes[0])).status, 403, "an old recovery code");
  t.equal((await remove(verified.body.recovery_codes[0])).status, 204);
});

await t.test("removing an inactive second factor is 404, and spends the proof", async (t) => {
  const person = await register(service);
  const proof = await proofOf(service, person);
  const remove = () => call(service, "DELETE", path, { token: person.token, body: proof });
  t.equal((await remove()).status, 404);
  t.equal((await remove()).status, 403);
});

await t.test("the stored row shows neither secret nor codes", async (t) => {
  const person = await register(service);
  const { secret } = (await start(person)).body;
  const codes = (await verify(person, codeAt(secret, clock.now()))).body.recovery_codes;
  const rows = (await execute(
    service,
    "SELECT totp::text AS text FROM auth_sm.totp UNION ALL SELECT totp_recovery_codes::text FROM auth_sm.totp_recovery_codes",
  )) as { text: string }[];
  t.ok(rows.length > 10);
  const kept = rows.map(({ text }) => text).join("\n");
  for (const canary of [secret, ...codes]) {
    const forms = [canary, canary.replaceAll("-", ""), Buffer.from(canary).toString("hex")];
    for (const form of forms) t.notOk(kept.toLowerCase().includes(form.toLowerCase()));
  }
  t.notOk(kept.includes(Buffer.from(Secret.fromBase32(secret).bytes).toString("hex")));
});

await t.test(
  "a sealed secret that is put in another's place does not open, and recovery codes still serve",
  async (t) => {
    const [ada, eve] = [await protect(service), await protect(service)];
    await execute(
      service,
      "UPDATE auth_sm.totp SET sealed_secret = (SELECT sealed_secret FROM auth_sm.totp WHERE user_id = $2) WHERE user_id = $1",
      [ada.userId, eve.userId],
    );
    clock.advance(step);
    const proof = await proofOf(service, ada, eve.codeAt(clock.now()));
    t.equal((await call(service, "DELETE", path, { token: ada.token, body: proof })).status, 403);
    const [code = ""] = ada.recoveryCodes;
    const body = await proofOf(service, ada, code);
    t.equal((await call(service, "DELETE", path, { token: ada.token, body })).status, 204);
  },
);
