import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { loginProof, register } from "../support/people.ts";
import { protect, type Protected, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const second = await service.replica();
const { clock, observer } = service;
clock.stop();
const step = 30_000;
const finishPath = "/api/auth/login/finish";

/** A person with a second factor whose next code has not been used. */
const protectedPerson = async (): Promise<Protected> => {
  const person = await protect(service);
  clock.advance(step);
  return person;
};
const finish = (proof: object, otp?: unknown, at: { url: string } = service, headers: Record<string, string> = {}) =>
  call(at, "POST", finishPath, { body: { ...proof, otp }, headers });
const failures = (userId: string) =>
  observer.records.filter(({ action, target }) => action === "user.login.failed" && target.id === userId);

await t.test(
  "with the right password and no code, or a wrong one, the login is 401 otp_required and goes on",
  async (t) => {
    const person = await protectedPerson();
    const proof = await loginProof(service, person);
    for (const otp of [undefined, "", "12345", "not-a-code"]) {
      const answer = await finish(proof, otp);
      t.equal(answer.status, 401, String(otp));
      t.equal(answer.body.error, "otp_required");
      t.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
    const answer = await finish(proof, person.codeAt(clock.now()));
    t.equal(answer.status, 200);
    t.equal(answer.body.user.id, person.userId);
  },
);

await t.test("five times at most, also 20 times at once at two replicas", async (t) => {
  const person = await protectedPerson();
  const proof = await loginProof(service, person);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => finish(proof, "000000", index % 2 === 0 ? service : second)),
  );
  const errors = answers.map(({ body }) => body.error).sort();
  t.strictSame(errors, [...Array<string>(15).fill("invalid_credentials"), ...Array<string>(5).fill("otp_required")]);
  t.equal((await finish(proof, person.codeAt(clock.now()))).body.error, "invalid_credentials");
});

await t.test("for 60 s, not longer", async (t) => {
  const person = await protectedPerson();
  const [inTime, late] = [await loginProof(service, person), await loginProof(service, person)];
  for (const proof of [inTime, late]) t.equal((await finish(proof)).body.error, "otp_required");
  clock.advance(59_999);
  t.equal((await finish(inTime, person.codeAt(clock.now()))).status, 200);
  clock.advance(1);
  t.equal((await finish(late, person.codeAt(clock.now()))).body.error, "invalid_credentials");
});

await t.test("a wrong password with the right code is a wrong password, and spends neither", async (t) => {
  const person = await protectedPerson();
  const otp = person.codeAt(clock.now());
  const proof = await loginProof(service, person);
  const answer = await finish({ ...proof, finish_login_request: wrongProof }, otp);
  t.equal(answer.body.error, "invalid_credentials");
  t.equal((await finish(proof, otp)).body.error, "invalid_credentials", "the start is spent");
  t.equal((await finish(await loginProof(service, person), otp)).status, 200, "the code is not");
});

await t.test("a code is good once, and none before it any more", async (t) => {
  const person = await protectedPerson();
  const codes = [-1, 0, 1].map((steps) => person.codeAt(new Date(clock.now().getTime() + steps * step)));
  const [before, present, after] = codes;
  t.equal(
    (await finish(await loginProof(service, person), before)).body.error,
    "otp_required",
    "its step was verified",
  );
  t.equal((await finish(await loginProof(service, person), after)).status, 200);
  for (const spent of [after, present]) {
    t.equal((await finish(await loginProof(service, person), spent)).body.error, "otp_required");
  }
  clock.advance(2 * step);
  t.equal((await finish(await loginProof(service, person), person.codeAt(clock.now()))).status, 200);
});

await t.test("of eight logins with one code at once, at two replicas, one succeeds", async (t) => {
  const person = await protectedPerson();
  const proofs = [];
  for (let count = 0; count < 8; count += 1) proofs.push(await loginProof(service, person));
  const otp = person.codeAt(clock.now());
  const answers = await Promise.all(
    proofs.map((proof, index) => finish(proof, otp, index % 2 === 0 ? service : second)),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(401)]);
});

await t.test("a recovery code is good once, however it is written, and the others stay", async (t) => {
  const person = await protectedPerson();
  const [first = "", other = ""] = person.recoveryCodes;
  const written = ` ${first.toUpperCase().replaceAll("-", " ")} `;
  t.equal((await finish(await loginProof(service, person), written)).status, 200);
  t.equal((await finish(await loginProof(service, person), first)).body.error, "otp_required");
  t.equal((await finish(await loginProof(service, person), other)).status, 200);
  const [row] = (await execute(
    service,
    "SELECT count(*)::int AS left FROM auth_sm.totp_recovery_codes WHERE user_id = $1",
    [person.userId],
  )) as { left: number }[];
  t.equal(row?.left, 8);
});

await t.test("of eight logins with one recovery code at once one succeeds; another's is none", async (t) => {
  const [person, other] = [await protectedPerson(), await protectedPerson()];
  const [code] = person.recoveryCodes;
  t.equal((await finish(await loginProof(service, other), code)).body.error, "otp_required");
  const proofs = [];
  for (let count = 0; count < 8; count += 1) proofs.push(await loginProof(service, person));
  const answers = await Promise.all(
    proofs.map((proof, index) => finish(proof, code, index % 2 === 0 ? service : second)),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(401)]);
});

await t.test("without a second factor a code is ignored; a code that is no text is 400", async (t) => {
  const person = await register(service);
  t.equal((await finish(await loginProof(service, person), "000000")).status, 200);
  const proof = await loginProof(service, person);
  for (const otp of [123456, null, "1".repeat(65)]) t.equal((await finish(proof, otp)).status, 400);
  t.equal((await finish(proof)).status, 200, "which spent nothing");
});

await t.test("a login that never gave its code is on record with that reason", async (t) => {
  const [spent, left] = [await protectedPerson(), await protectedPerson()];
  const proof = await loginProof(service, spent);
  const headers = { "x-request-id": "the-fifth" };
  for (let time = 0; time < 5; time += 1) await finish(proof, "000000", service, headers);
  await finish(await loginProof(service, left), "000000");
  await until("the one that was tried too often", () => failures(spent.userId).length === 1);
  t.match(failures(spent.userId), [
    { outcome: "failure", reason: "otp_required", request: { id: "the-fifth", route: finishPath, status: 401 } },
  ]);
  t.equal(failures(left.userId).length, 0, "while it may still succeed");
  clock.advance(60_000);
  await until("the one whose time is over", () => failures(left.userId).length === 1);
  t.match(failures(left.userId), [{ reason: "otp_required", request: { route: finishPath, status: 401 } }]);
});
