import t from "tap";
import { call } from "../support/call.ts";
import { loginProof, type Person } from "../support/people.ts";
import { proofOf, protect, type Protected } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

// How often a code of the second factor may be guessed by who knows the password.

const service = await startAuthSm(t);
const second = await service.replica();
const { clock } = service;
clock.stop();
const [step, hour] = [30_000, 3_600_000];
const finish = (proof: object, otp: string, at: { url: string } = service) =>
  call(at, "POST", "/api/auth/login/finish", { body: { ...proof, otp } });
/** A code that is not the present one, nor one beside it. */
function wrongCode(person: Protected): string {
  const near = [-1, 0, 1].map((steps) => person.codeAt(new Date(clock.now().getTime() + steps * step)));
  return ["000000", "111111", "222222", "333333"].find((code) => !near.includes(code)) ?? "";
}
/** Tries so many wrong codes, all at once for each login, and returns how they were answered. */
async function guess(person: Protected, count: number): Promise<string[]> {
  const errors: string[] = [];
  for (let left = count; left > 0; left -= 5) {
    const proof = await loginProof(service, person);
    const tries = Array.from({ length: Math.min(5, left) }, (_, index) =>
      finish(proof, wrongCode(person), index % 2 === 0 ? service : second),
    );
    errors.push(...(await Promise.all(tries)).map(({ body }) => body.error));
  }
  return errors;
}
async function guessed(): Promise<Protected> {
  const person = await protect(service);
  clock.advance(step);
  t.strictSame(new Set(await guess(person, 20)), new Set(["otp_required"]));
  return person;
}
const login = async (person: Protected, otp: string) => finish(await loginProof(service, person), otp);
const present = (person: Protected): string => person.codeAt(clock.now());

await t.test("after 20 wrong codes none is looked at for an hour, the right one neither", async (t) => {
  const person = await guessed();
  const proof = await loginProof(service, person);
  const refused = await finish(proof, present(person));
  t.equal(refused.status, 429);
  t.equal(refused.body.error, "rate_limited");
  t.equal(refused.headers.get("retry-after"), "3600");
  clock.advance(hour - 1);
  t.equal((await login(person, present(person))).headers.get("retry-after"), "1");
  clock.advance(1);
  t.equal((await login(person, present(person))).status, 200);
});

await t.test("a recovery code opens meanwhile", async (t) => {
  const person = await guessed();
  const [code = ""] = person.recoveryCodes;
  t.equal((await login(person, code)).status, 200);
  t.equal((await login(person, present(person))).status, 429, "which does not start the count anew");
});

await t.test("after them one wrong code an hour is looked at, also of several at once", async (t) => {
  const person = await guessed();
  for (let hours = 0; hours < 3; hours += 1) {
    clock.advance(hour);
    t.strictSame((await guess(person, 4)).sort(), ["otp_required", "rate_limited", "rate_limited", "rate_limited"]);
  }
});

await t.test("of more that come at once no more than 20 are looked at", async (t) => {
  const person = await protect(service);
  const proofs = [];
  for (let count = 0; count < 8; count += 1) proofs.push(await loginProof(service, person));
  const tries = proofs.flatMap((proof) => [1, 2, 3, 4].map(() => finish(proof, wrongCode(person), second)));
  const errors = (await Promise.all(tries)).map(({ body }) => body.error);
  t.equal(errors.filter((error) => error === "otp_required").length, 20);
  t.equal(errors.filter((error) => error === "rate_limited").length, 12);
});

await t.test("a right code is not counted, and a day after the first wrong one the count is new", async (t) => {
  const person = await protect(service);
  clock.advance(step);
  await guess(person, 19);
  t.equal((await login(person, present(person))).status, 200);
  clock.advance(step);
  t.strictSame(await guess(person, 1), ["otp_required"]);
  t.equal((await login(person, present(person))).status, 429);
  clock.advance(24 * hour);
  t.strictSame(new Set(await guess(person, 20)), new Set(["otp_required"]));
  t.equal((await login(person, present(person))).status, 429);
});

await t.test("fresh proofs count with logins, and only for their own account", async (t) => {
  const [person, other] = [await guessed(), await protect(service)];
  const remove = async (who: Person, otp: string) =>
    call(service, "DELETE", "/api/auth/totp", { token: who.token, body: await proofOf(service, who, otp) });
  t.equal((await remove(person, present(person))).status, 429);
  clock.advance(step);
  t.equal((await remove(other, present(other))).status, 204);
});
