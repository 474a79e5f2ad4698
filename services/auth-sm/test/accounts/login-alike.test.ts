import { startLogin, startRegistration } from "@coffer/crypto/opaque";
import { randomBytes } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { beginLogin, device, newDevice, newEmail, register, registration } from "../support/people.ts";
import { changePassword, registerRecoverable, wrongProof } from "../support/proofs.ts";
import { runRotation } from "../support/run-rotation.ts";
import { startAuthSm } from "../support/service.ts";

// Known and unknown e-mails get the same response: status, body, length and time.

const service = await startAuthSm(t);
const start = "/api/auth/login/start";
const finish = "/api/auth/login/finish";
const recovery = "/api/auth/recovery/start";
const { startLoginRequest: start_login_request } = await startLogin("whatever");
const { registrationRequest: registration_request } = await startRegistration("whatever");
// Of another account's device: unknown for each e-mail below.
const { credential } = await newDevice(service);
const wrongRecovery = () => randomBytes(32).toString("base64url");

/** What a caller can see of answers, but for what differs in any two. */
const seen = ({ status, headers, body }: Answer) => {
  const shape = Object.entries(body).map(([name, value]) => [name, String(value).length]);
  return { status, shape, length: headers.get("content-length"), headers: [...headers.keys()] };
};

await t.test("an unknown e-mail, a wrong proof and an unknown login_id are answered alike", async (t) => {
  const person = await register(service);
  const known = await beginLogin(service, person);
  const unknown = await beginLogin(service, { email: newEmail(), password: person.password });
  t.equal(unknown.start.status, 200);
  t.strictSame(seen(unknown.start), seen(known.start));
  const ids = [known.start.body.login_id, unknown.start.body.login_id, known.start.body.login_id.replace(/.$/, "0")];
  const answers: Answer[] = [];
  for (const login_id of ids) {
    const headers = { "x-request-id": "same" };
    const body = { login_id, finish_login_request: wrongProof, device };
    answers.push(await call(service, "POST", finish, { body, headers }));
  }
  for (const answer of answers) {
    t.equal(answer.status, 401);
    t.strictSame(answer.body, answers[0]?.body);
  }
});

await t.test(
  "a wrong recovery proof, an account without a recovery key and no account are answered alike",
  async (t) => {
    const emails = [(await registerRecoverable(service)).email, (await register(service)).email, newEmail()];
    const answers: Answer[] = [];
    for (const email of emails) {
      const headers = { "x-request-id": "same" };
      const body = { email, proof: wrongRecovery(), registration_request };
      answers.push(await call(service, "POST", recovery, { body, headers }));
    }
    for (const answer of answers) {
      t.equal(answer.status, 401);
      t.match(answer.body, { error: "invalid_credentials", message: /^the e-mail or the recovery key is wrong/ });
      t.strictSame(answer.body, answers[0]?.body);
      t.strictSame(seen(answer), seen(answers[0] as Answer));
    }
  },
);

// What a caller blinds is the first 32 bytes of either request, and what the server makes of it the
// first 32 of either answer (RFC 9807, 5.2 and 6.3): the same for both where the e-mail and the
// setup are the same.
const inBase64url = (text: string, from: number, to: number) =>
  Buffer.from(text, "base64url").toString("base64url", from, to);
const sameBlinded = inBase64url(start_login_request, 0, 32);
const registrationAnswer = async (email: string): Promise<string> => {
  const body = { email, registration_request: sameBlinded };
  return (await call(service, "POST", "/api/auth/register/start", { body })).body.registration_response;
};
/** Whether the answers to a registration and to a login show that they are made by the same setup. */
const areEqual = async (email: string): Promise<boolean> => {
  const login = await call(service, "POST", start, { body: { email, start_login_request } });
  return inBase64url(await registrationAnswer(email), 0, 32) === inBase64url(login.body.login_response, 0, 32);
};
/** The setup's public key, which an answer to a registration shows. */
const setupKey = async (email: string) => inBase64url(await registrationAnswer(email), 32, 64);

await t.test("the answers of a registration and a login do not reveal who has an account", async (t) => {
  const old = await register(service);
  const changed = await register(service);
  for (const email of [old.email, newEmail()]) t.equal(await areEqual(email), true, "there is one setup");

  for (const rotation of ["the first", "the second"]) {
    const before = await setupKey(newEmail());
    t.equal((await runRotation(service, ["opaque-setup"])).code, 0);
    service.clock.advance(31_000);
    const after = await until("the new setup is used", async () => {
      const key = await setupKey(newEmail());
      return key !== before && key;
    });
    const recent = await register(service);
    t.equal((await changePassword(service, changed, rotation)).status, 200);
    changed.password = rotation;
    for (const email of [newEmail(), old.email, changed.email, recent.email]) {
      t.equal(await areEqual(email), false, `${rotation} rotation`);
      t.equal(await setupKey(email), after, "the newest setup's, for all e-mails");
      const answers = [await registrationAnswer(email), await registrationAnswer(email)];
      t.equal(answers[0], answers[1], "the same each time");
    }
    const taken = await registration(service, { email: recent.email });
    const answer = await call(service, "POST", "/api/auth/register/finish", { body: taken });
    t.match(answer, { status: 409, body: { error: "conflict" } }, "and no further than before");
  }
});

/** Milliseconds of each answer, by step. */
type Attempt = (email: string) => Promise<Record<string, number>>;

async function timed(request: Promise<Answer>): Promise<{ answer: Answer; milliseconds: number }> {
  const began = performance.now();
  const answer = await request;
  return { answer, milliseconds: performance.now() - began };
}

const login: Attempt = async (email) => {
  const started = await timed(call(service, "POST", start, { body: { email, start_login_request } }));
  const { login_id } = started.answer.body;
  const body = { login_id, finish_login_request: wrongProof, device };
  const finished = await timed(call(service, "POST", finish, { body }));
  return { start: started.milliseconds, finish: finished.milliseconds };
};

// There are several setups by now, and the known person's password is the newest's.
const registering: Attempt = async (email) => {
  const body = { email, registration_request };
  return { start: (await timed(call(service, "POST", "/api/auth/register/start", { body }))).milliseconds };
};

const loginFromAnotherDevice: Attempt = async (email) => {
  const body = { email, start_login_request, device_credential: credential };
  return { start: (await timed(call(service, "POST", start, { body }))).milliseconds };
};

const delayedLogin: Attempt = async (email) => {
  for (let time = 0; time < 10; time += 1) await call(service, "POST", start, { body: { email, start_login_request } });
  const refused = await timed(call(service, "POST", start, { body: { email, start_login_request } }));
  if (refused.answer.status !== 429) throw new Error(`the eleventh login was answered ${refused.answer.status}`);
  return { refusal: refused.milliseconds };
};

const recover: Attempt = async (email) => {
  const body = { email, proof: wrongRecovery(), registration_request };
  return { recovery: (await timed(call(service, "POST", recovery, { body }))).milliseconds };
};

for (const [what, attempt, rounds] of [
  ["a login, at the start and at the finish", login, 1000],
  ["a login with the credential of another account's device", loginFromAnotherDevice, 1000],
  ["a login that is put off", delayedLogin, 150],
  ["a recovery", recover, 1000],
  ["a registration that is begun", registering, 1000],
] as const) {
  await t.test(`an unknown e-mail takes the same time as a known one: ${what}`, async (t) => {
    const { email } = await registerRecoverable(service);
    const times = { known: new Map<string, number[]>(), unknown: new Map<string, number[]>() };
    const measure = async (who: "known" | "unknown"): Promise<void> => {
      const steps = await attempt(who === "known" ? email : newEmail());
      for (const [step, milliseconds] of Object.entries(steps)) {
        times[who].set(step, [...(times[who].get(step) ?? []), milliseconds]);
      }
      // Each attempt is the first of its e-mail.
      await execute(service, "TRUNCATE auth_sm.login_counts");
    };
    const ratio = (step: string): number =>
      quarter(times.unknown.get(step) ?? []) / quarter(times.known.get(step) ?? []);
    const difference = (step: string): number =>
      Math.abs(quarter(times.unknown.get(step) ?? []) - quarter(times.known.get(step) ?? []));
    // Also on a slow machine, where a tenth is much, a millisecond is seen.
    const alike = (): boolean =>
      [...times.known.keys()].every((step) => ratio(step) > 0.9 && ratio(step) < 1.1 && difference(step) < 1);
    // What else the machine does evens out with the number; a difference that is ours stays.
    for (let round = 0; round < rounds && (round < rounds / 10 || !alike()); round += 1) {
      for (const who of round % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const)) {
        await measure(who);
      }
    }
    for (const step of times.known.keys()) t.ok(alike(), `${step}: unknown / known = ${ratio(step).toFixed(2)}`);
  });
}

/**
 * The time below which a quarter of them are: what else the machine does shows less in it than in
 * the middle.
 */
function quarter(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}
