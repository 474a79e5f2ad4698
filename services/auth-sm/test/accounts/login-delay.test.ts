import { startLogin } from "@coffer/crypto/opaque";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import t from "tap";
import { knownPlaceSweep } from "../../src/accounts/known-place.ts";
import { schema } from "../../src/migrate.ts";
import { type Answer, call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { logIn, loginProof, newEmail, register } from "../support/people.ts";
import { proofOf, wrongProof } from "../support/proofs.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t, { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" });
const second = await service.replica();
const { clock } = service;
clock.stop();

const minute = 60_000;
const { startLoginRequest: start_login_request } = await startLogin("whatever");
/** Begins a login from an unknown address: a new one each time unless one is given. */
let next = 0;
const elsewhere = () => `198.18.${(next >> 8) & 255}.${next++ & 255}`;
const begin = (email: string, from = elsewhere(), at: { url: string } = service): Promise<Answer> =>
  call(at, "POST", "/api/auth/login/start", {
    body: { email, start_login_request },
    headers: { "x-forwarded-for": from },
  });
const beginTimes = async (email: string, times: number): Promise<number[]> => {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) statuses.push((await begin(email)).status);
  return statuses;
};
/** Renews a person's session somewhere. */
const renewAt = async (from: string, person: { refreshToken: string }): Promise<void> => {
  const answer = await call(service, "POST", "/api/auth/refresh", {
    body: { refresh_token: person.refreshToken },
    headers: { "x-forwarded-for": from },
  });
  if (answer.status !== 200) throw new Error(`the renewal was answered ${answer.status}`);
  person.refreshToken = answer.body.refresh_token;
};
const tenGood = Array<number>(10).fill(200);

await t.test("ten unfinished logins delay the next, with and without an account", async (t) => {
  const { email } = await register(service);
  const answers: Answer[] = [];
  for (const asked of [email, newEmail()]) {
    t.strictSame(await beginTimes(asked, 10), tenGood);
    const answer = await call(service, "POST", "/api/auth/login/start", {
      body: { email: asked, start_login_request },
      headers: { "x-forwarded-for": "198.51.100.1", "x-request-id": "same" },
    });
    t.equal(answer.status, 429);
    t.equal(answer.body.error, "rate_limited");
    t.equal(answer.headers.get("retry-after"), "60");
    answers.push(answer);
  }
  t.strictSame(answers[0]?.body, answers[1]?.body);
  t.strictSame([...(answers[0]?.headers.keys() ?? [])], [...(answers[1]?.headers.keys() ?? [])]);
});

await t.test("the delay is over at its second, and doubles up to 15 minutes", async (t) => {
  const email = newEmail();
  await beginTimes(email, 10);
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    clock.advance(minutes * minute - 1);
    const early = await begin(email);
    t.equal(early.status, 429, `${minutes} min, less 1 ms`);
    t.equal(early.headers.get("retry-after"), "1");
    clock.advance(1);
    t.equal((await begin(email)).status, 200, `${minutes} min`);
  }
  t.equal((await begin(email)).headers.get("retry-after"), "900");
});

await t.test("a refused login does not lengthen the delay", async (t) => {
  const email = newEmail();
  await beginTimes(email, 10);
  clock.advance(minute / 2);
  t.strictSame(await beginTimes(email, 5), Array<number>(5).fill(429));
  t.equal((await begin(email)).headers.get("retry-after"), "30");
});

await t.test("ten count within 15 minutes, not over a longer time", async (t) => {
  const [within, over] = [newEmail(), newEmail()];
  for (const email of [within, over]) await begin(email);
  clock.advance(minute);
  for (const email of [within, over]) await begin(email);
  clock.advance(14 * minute - 1);
  t.strictSame(await beginTimes(within, 8), tenGood.slice(2));
  t.equal((await begin(within)).status, 429, "the first was less than 15 min ago");
  clock.advance(1);
  t.strictSame(await beginTimes(over, 8), tenGood.slice(2));
  t.equal((await begin(over)).status, 200, "the first was 15 min ago");
  t.equal((await begin(over)).status, 429, "the second was not");
});

await t.test("as long a time without a login makes an end of it, no shorter one", async (t) => {
  const [early, late] = [newEmail(), newEmail()];
  await beginTimes(early, 10);
  await beginTimes(late, 10);
  clock.advance(16 * minute - 1);
  t.equal((await begin(early)).status, 200);
  t.equal((await begin(early)).headers.get("retry-after"), "120", "the delay goes on growing");
  clock.advance(1);
  t.strictSame(await beginTimes(late, 10), tenGood);
});

await t.test("30 at once at two replicas are ten", async (t) => {
  const email = newEmail();
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => begin(email, undefined, index % 2 === 0 ? service : second)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  t.strictSame(statuses, [...tenGood, ...Array<number>(20).fill(429)]);
  t.equal((await begin(email, undefined, second)).status, 429);
});

await t.test("every spelling of an e-mail is one account", async (t) => {
  const email = newEmail();
  for (const spelling of [email.toUpperCase(), ` ${email}`, email]) await beginTimes(spelling, 3);
  t.equal((await begin(email)).status, 200);
  t.equal((await begin(`${email.toUpperCase()} `)).status, 429);
});

await t.test("a login that succeeds clears the count, a wrong one does not; nor does another account's", async (t) => {
  const [person, other] = [await register(service), await register(service)];
  await beginTimes(person.email, 8);
  const { login_id, device } = await loginProof(service, person);
  const body = { login_id, finish_login_request: wrongProof, device };
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body })).status, 401);
  await logIn(service, other);
  const proof = await loginProof(service, person);
  t.equal((await begin(person.email)).status, 429, "that was the tenth");
  t.equal((await call(service, "POST", "/api/auth/login/finish", { body: proof })).status, 200);
  t.strictSame(await beginTimes(person.email, 10), tenGood);
  t.equal((await begin(person.email)).status, 429);
});

await t.test("so does a fresh proof", async (t) => {
  const person = await register(service);
  await beginTimes(person.email, 9);
  const body = await proofOf(service, person);
  t.equal((await begin(person.email)).status, 429);
  t.equal((await call(service, "POST", "/api/auth/totp", { token: person.token, body })).status, 200);
  t.equal((await begin(person.email)).status, 200);
});

await t.test("an endless attack delays the owner by one minute at a known address", async (t) => {
  const person = await register(service);
  const attack = async () => {
    while ((await begin(person.email)).status === 200);
  };
  await attack();
  t.equal((await begin(person.email, "127.0.0.1")).headers.get("retry-after"), "60");
  for (let minutes = 0; minutes < 30; minutes += 1) {
    clock.advance(minute);
    await attack();
    if (minutes % 8 === 0) t.equal((await begin(person.email, "127.0.0.1")).status, 200, `after ${minutes} min`);
  }
  t.equal((await begin(person.email)).status, 429, "elsewhere it goes on");
  t.equal((await logIn(service, person)).userId, person.userId);
});

/** Whether a minute is all that others can make the owner wait there. */
const isKnown = async (email: string, place: string): Promise<boolean> => {
  while ((await begin(email)).status === 200);
  clock.advance(minute);
  await begin(email);
  return (await begin(email, place)).status === 200;
};

await t.test("a session that continues elsewhere keeps its first address known", async (t) => {
  const person = await register(service);
  await renewAt("192.0.2.10", person);
  t.ok(await isKnown(person.email, "127.0.0.1"), "where the owner has registered");
  t.ok(await isKnown(person.email, "192.0.2.10"), "where the session was renewed");
});

await t.test("of an account's places the latest 16 are known, for 90 days", async (t) => {
  const person = await register(service);
  const places = Array.from({ length: 16 }, (_, index) => `192.0.2.${index}`);
  for (const place of places) {
    clock.advance(1);
    await renewAt(place, person);
  }
  t.notOk(await isKnown(person.email, "127.0.0.1"), "the 17th");
  const [oldest = "", next = ""] = places;
  await renewAt(oldest, person);
  await renewAt("192.0.2.100", person);
  t.ok(await isKnown(person.email, oldest), "seen again");
  t.notOk(await isKnown(person.email, next), "one of the places gave way");
  const kept = await execute(service, "SELECT FROM auth_sm.known_places WHERE user_id = $1", [person.userId]);
  t.equal(kept.length, 16);
  const [inTime, late] = [await register(service), await register(service)];
  clock.advance(90 * 24 * 60 * minute - 2 * minute);
  t.ok(await isKnown(inTime.email, "127.0.0.1"));
  clock.advance(2 * minute);
  t.notOk(await isKnown(late.email, "127.0.0.1"), "after 90 days");
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema, telemetry });
  t.teardown(() => database.close());
  t.equal(await knownPlaceSweep({ database, now: clock.now }).batch(), false);
  t.strictSame(await execute(service, "SELECT FROM auth_sm.known_places"), [], "nothing of them stays");
});

await t.test("at a known place ten are ten as well", async (t) => {
  const person = await register(service);
  const statuses = [];
  for (let time = 0; time < 10; time += 1) statuses.push((await begin(person.email, "127.0.0.1")).status);
  t.strictSame(statuses, tenGood);
  for (const minutes of [1, 2, 4, 8, 15]) {
    const refused = await begin(person.email, "127.0.0.1");
    t.equal(refused.headers.get("retry-after"), String(minutes * 60));
    clock.advance(minutes * minute);
    t.equal((await begin(person.email, "127.0.0.1")).status, 200);
  }
});

await t.test("an IPv6 network is one place", async (t) => {
  const person = await register(service);
  await renewAt("2001:db8:0:1::1", person);
  await beginTimes(person.email, 10);
  clock.advance(minute);
  await begin(person.email);
  t.equal((await begin(person.email, "2001:db8:0:1:ffff::2")).status, 200, "the same network");
  t.equal((await begin(person.email, "2001:db8:0:2::1")).status, 429, "another");
});

await t.test("an invalid OPAQUE request is not counted", async (t) => {
  const email = newEmail();
  for (let time = 0; time < 12; time += 1) {
    const body = { email, start_login_request: Buffer.alloc(96, 255).toString("base64url") };
    t.equal((await call(service, "POST", "/api/auth/login/start", { body })).status, 400);
  }
  t.equal((await begin(email)).status, 200);
});

await t.test("the counters have no e-mail, and are deleted", async (t) => {
  const email = newEmail();
  await beginTimes(email, 11);
  const kept = (await execute(service, "SELECT login_counts::text AS text FROM auth_sm.login_counts")) as {
    text: string;
  }[];
  t.ok(kept.length > 0);
  t.notOk(kept.some(({ text }) => text.includes(email) || text.includes(Buffer.from(email).toString("hex"))));
  clock.advance(31 * minute);
  await until("all of it is gone", async () => {
    const rows = await execute(service, "SELECT FROM auth_sm.login_counts UNION ALL SELECT FROM auth_sm.login_starts");
    return rows.length === 0;
  });
});
