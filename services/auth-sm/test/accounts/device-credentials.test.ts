import { startLogin } from "@coffer/crypto/opaque";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { deviceCredentialSweep } from "../../src/accounts/device-credential.ts";
import { schema } from "../../src/migrate.ts";
import { type Answer, call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { credentialOf, device, loginProof, newDevice, newEmail, register } from "../support/people.ts";
import { beginRecovery, changePassword, proofOf, registerRecoverable, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t, { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" });
const { clock } = service;
clock.stop();

const minute = 60_000;
const day = 24 * 60 * minute;
const { startLoginRequest: start_login_request } = await startLogin("whatever");
/** Another address each time: none of them is known. */
let next = 0;
const elsewhere = () => `198.18.${(next >> 8) & 255}.${next++ & 255}`;
const begin = (email: string, device_credential?: string): Promise<Answer> =>
  call(service, "POST", "/api/auth/login/start", {
    body: { email, start_login_request, ...(device_credential === undefined ? {} : { device_credential }) },
    headers: { "x-forwarded-for": elsewhere() },
  });
/** Begins logins of an account without a credential until one is refused. */
const attack = async (email: string): Promise<void> => {
  while ((await begin(email)).status === 200);
};
/** Whether a login that begins with the credential is delayed by others. */
const isDelayed = async (email: string, credential?: string): Promise<boolean> => {
  await attack(email);
  return (await begin(email, credential)).status === 429;
};

/** Logs in with a credential; the answer to the finish. */
async function logInWith(credentials: { email: string; password: string }, credential?: string): Promise<Answer> {
  const proof = await loginProof(service, { ...credentials, deviceCredential: credential });
  return call(service, "POST", "/api/auth/login/finish", { body: proof });
}

await t.test("a device that has registered or logged in is not delayed by others, wherever it is", async (t) => {
  const { person, credential } = await newDevice(service);
  t.match(credential, /^cfd1_[A-Za-z0-9_-]{43}$/);
  t.equal(await isDelayed(person.email), true);
  t.equal(await isDelayed(person.email, credential), false);
  clock.advance(15 * minute);
  const second = credentialOf(await logInWith(person, credential));
  t.not(second, credential);
  t.equal(await isDelayed(person.email, second), false);
  t.equal(await isDelayed(person.email, credential), true, "a login replaces the credential that began it");
});

await t.test("a recovery gives one too, and forgets every other device", async (t) => {
  const { person, credential } = await newDevice(service);
  t.equal(await isDelayed(person.email, credential), false);
  const recoverable = await registerRecoverable(service);
  const first = credentialOf(await logInWith(recoverable));
  const { finish: body } = await beginRecovery(service, recoverable, "another password of this account");
  const recovered = await call(service, "POST", "/api/auth/recovery/finish", { body });
  t.equal(recovered.status, 200);
  t.equal(await isDelayed(recoverable.email, credentialOf(recovered)), false);
  t.equal(await isDelayed(recoverable.email, first), true);
});

await t.test("a device's own logins are counted: ten that do not succeed delay the device", async (t) => {
  const { person, credential } = await newDevice(service);
  const statuses: number[] = [];
  for (let time = 0; time < 10; time += 1) statuses.push((await begin(person.email, credential)).status);
  t.strictSame(statuses, Array<number>(10).fill(200));
  const refused = await begin(person.email, credential);
  t.match(refused, { status: 429, body: { error: "rate_limited" } });
  t.equal(refused.headers.get("retry-after"), "60");
  t.equal((await begin(person.email)).status, 200, "which delays no other person");
});

await t.test("a credential means nothing for another account, and shows nothing of one", async (t) => {
  const [one, other] = [await newDevice(service), await newDevice(service)];
  const unknown = newEmail();
  for (const email of [other.person.email, unknown]) {
    const answers = [await begin(email), await begin(email, one.credential), await begin(email, "cfd1_made-up")];
    for (const { status, headers, body } of answers) {
      t.equal(status, 200);
      t.strictSame(
        Object.entries(body).map(([name, value]) => [name, String(value).length]),
        [
          ["login_id", 36],
          ["login_response", String(answers[0]?.body.login_response).length],
        ],
      );
      t.strictSame([...headers.keys()], [...(answers[0]?.headers.keys() ?? [])]);
    }
    t.equal(await isDelayed(email, one.credential), true);
  }
  const refusals = [await begin(other.person.email, one.credential), await begin(unknown, one.credential)];
  t.equal(refusals[0]?.body.message, refusals[1]?.body.message);
  t.equal(refusals[0]?.headers.get("retry-after"), refusals[1]?.headers.get("retry-after"));
});

await t.test("a logout leaves the device known; a session that is revoked does not", async (t) => {
  const { person, credential } = await newDevice(service);
  t.equal((await call(service, "POST", "/api/auth/logout", { token: person.token })).status, 204);
  t.equal(await isDelayed(person.email, credential), false, "after a logout");

  clock.advance(15 * minute);
  const lost = await logInWith(person, credential);
  const here = await logInWith(person);
  const revoked = await call(service, "DELETE", `/api/auth/sessions/${lost.body.session_id}`, {
    token: here.body.access_token,
  });
  t.equal(revoked.status, 204);
  t.equal(await isDelayed(person.email, credentialOf(lost)), true, "after its session was revoked");
  t.equal(await isDelayed(person.email, credentialOf(here)), false);
});

await t.test("a change of the password forgets every other device, also one that has logged out", async (t) => {
  const { person, credential } = await newDevice(service);
  const out = await logInWith(person);
  t.equal((await call(service, "POST", "/api/auth/logout", { token: out.body.access_token })).status, 204);
  t.equal((await changePassword(service, person, "another password of this account")).status, 200);
  t.equal(await isDelayed(person.email, credential), false, "the device that changed it");
  t.equal(await isDelayed(person.email, credentialOf(out)), true);
});

await t.test("a login that fails changes nothing of the credential, and a fresh proof may begin with it", async (t) => {
  const { person, credential } = await newDevice(service);
  const start = await begin(person.email, credential);
  const body = { login_id: start.body.login_id, finish_login_request: wrongProof, device };
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body })).status, 401);
  t.equal(await isDelayed(person.email, credential), false);
  const proof = await proofOf(service, { ...person, deviceCredential: credential });
  t.equal((await call(service, "POST", "/api/auth/totp", { token: person.token, body: proof })).status, 200);
  t.equal(await isDelayed(person.email, credential), false, "and does not replace it");
});

await t.test("of an account's credentials the newest 16 count, for a year; only hashes are stored", async (t) => {
  const { person, credential } = await newDevice(service);
  const later: string[] = [];
  for (let time = 0; time < 16; time += 1) {
    clock.advance(minute);
    later.push(credentialOf(await logInWith(person)));
  }
  t.equal(await isDelayed(person.email, credential), true, "the seventeenth");
  t.equal(await isDelayed(person.email, later[0]), false);
  const stored = await execute(service, "SELECT FROM auth_sm.device_credentials WHERE user_id = $1", [person.userId]);
  t.equal(stored.length, 16);
  const text = JSON.stringify(
    await execute(service, "SELECT device_credentials::text FROM auth_sm.device_credentials"),
  );
  for (const each of later) {
    t.notOk(text.includes(each));
    t.notOk(text.includes(Buffer.from(each).toString("hex")));
  }
  const [inTime, late] = [await newDevice(service), await newDevice(service)];
  clock.advance(365 * day - minute);
  t.equal(await isDelayed(inTime.person.email, inTime.credential), false);
  clock.advance(minute);
  t.equal(await isDelayed(late.person.email, late.credential), true, "after a year");
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema, telemetry });
  t.teardown(() => database.close());
  t.equal(await deviceCredentialSweep({ database, now: clock.now }).batch(), false);
  t.strictSame(await execute(service, "SELECT FROM auth_sm.device_credentials"), [], "nothing of them stays");
});

await t.test("a credential of the wrong form is unknown; one that is too long is refused", async (t) => {
  const person = await register(service);
  for (const malformed of ["", "x", "cfd1_", "☃"]) t.equal((await begin(person.email, malformed)).status, 200);
  t.match(await begin(person.email, "x".repeat(129)), { status: 400, body: { error: "invalid_request" } });
});
