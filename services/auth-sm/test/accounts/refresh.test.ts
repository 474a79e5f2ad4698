import { randomBytes } from "node:crypto";
import { revokedSessionsKey } from "@coffer/events";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import pg from "pg";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { schema } from "../../src/migrate.ts";
import { sessionSweep } from "../../src/sessions/sweep.ts";
import { call } from "../support/call.ts";
import { execute } from "../support/members.ts";
import { logIn, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock, observer } = service;
clock.stop();

const refresh = (refresh_token: unknown) => call(service, "POST", "/api/auth/refresh", { body: { refresh_token } });
const account = (token: string) => call(service, "GET", "/api/account", { token });
const day = 24 * 60 * 60 * 1000;

const client = new pg.Client({ connectionString: service.postgres.url });
await client.connect();
t.teardown(() => client.end());
const redis = new Redis(service.redis.url);
t.teardown(() => redis.disconnect());
const revoked = (sessionId: string) => redis.zscore(revokedSessionsKey, sessionId);

await t.test("refresh answers with a new access token and a new refresh token", async (t) => {
  const person = await register(service);
  clock.advance(1000);
  const answer = await refresh(person.refreshToken);
  t.equal(answer.status, 200);
  const { access_token, refresh_token, ...rest } = answer.body;
  t.strictSame(rest, { token_type: "Bearer", expires_in: 900, refresh_expires_in: 30 * 24 * 60 * 60 });
  t.not(refresh_token, person.refreshToken);
  t.not(access_token, person.token);
  t.equal((await account(access_token)).body.user.id, person.userId);
  t.equal((await account(person.token)).status, 200, "the earlier access token is still good");
});

await t.test("20 refreshes with one token at once all give the same successor", async (t) => {
  const { refreshToken } = await register(service);
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refreshToken)));
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]));
  t.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 1);
  t.equal((await refresh(answers[0]?.body.refresh_token)).status, 200);
});

await t.test("the token before the present one gives the same successor for 60 s", async (t) => {
  const { refreshToken } = await register(service);
  const first = await refresh(refreshToken);
  clock.advance(60_000);
  const again = await refresh(refreshToken);
  t.equal(again.status, 200);
  t.equal(again.body.refresh_token, first.body.refresh_token);
  t.equal(again.body.refresh_expires_in, 30 * 24 * 60 * 60 - 60, "a repetition lengthens nothing");
});

await t.test("after 60 s it revokes the session, everywhere", async (t) => {
  const person = await register(service, { orgName: "Robbed" });
  const { body } = await refresh(person.refreshToken);
  clock.advance(60_001);
  const reused = await refresh(person.refreshToken);
  t.equal(reused.status, 401);
  t.equal(reused.body.error, "token_reused");
  t.equal((await account(body.access_token)).status, 401, "its access tokens are refused");
  t.equal((await refresh(body.refresh_token)).body.error, "token_reused", "the present token too, and says why");
  const record = await observer.record("the reuse", ({ target }) => target.id === person.sessionId);
  t.match(record, {
    action: "session.reuse_detected",
    outcome: "success",
    reason: "token_reused",
    org_id: String,
    target: { type: "session", id: person.sessionId, parent_id: person.userId },
    request: { status: 401 },
  });
  const news = await until("the news", () => observer.revocations.find((one) => one.session_id === person.sessionId));
  t.match(news, { user_id: person.userId, reason: "token_reused", at: clock.now().toISOString() });
  t.equal(Number(await revoked(person.sessionId)), clock.now().getTime());
});

await t.test("a token two generations old revokes the session at once", async (t) => {
  const person = await register(service);
  const second = await refresh(person.refreshToken);
  await refresh(second.body.refresh_token);
  t.equal((await refresh(person.refreshToken)).body.error, "token_reused");
});

await t.test("20 replays at once are recorded once", async (t) => {
  const person = await register(service);
  const second = await refresh(person.refreshToken);
  await refresh(second.body.refresh_token);
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(person.refreshToken)));
  t.ok(answers.every(({ body }) => body.error === "token_reused"));
  await observer.record("the reuse", ({ target }) => target.id === person.sessionId);
  t.equal(observer.records.filter(({ target }) => target.id === person.sessionId).length, 1);
});

await t.test("a reuse ends only its own session", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const second = await refresh(person.refreshToken);
  await refresh(second.body.refresh_token);
  t.equal((await refresh(person.refreshToken)).status, 401);
  t.equal((await account(other.token)).status, 200);
  t.equal((await refresh(other.refreshToken)).status, 200);
});

await t.test("a forged token is 401 and revokes nothing", async (t) => {
  const person = await register(service);
  const bytes = Buffer.from(person.refreshToken.slice(5), "base64url");
  const forged = (change: (copy: Buffer) => unknown): string => {
    const copy = Buffer.from(bytes);
    change(copy);
    return `cfs1_${copy.toString("base64url")}`;
  };
  const tokens = [
    forged((copy) => copy.writeUInt32BE(0, 16)),
    forged((copy) => copy.writeUInt32BE(2, 16)),
    forged((copy) => randomBytes(32).copy(copy, 20)),
    forged((copy) => randomBytes(16).copy(copy, 52)),
    forged((copy) => randomBytes(16).copy(copy)),
    `cfs1_${bytes.subarray(0, 67).toString("base64url")}`,
    `${person.refreshToken}A`,
    `${person.refreshToken}=`,
    person.refreshToken.replace("cfs1_", ""),
    person.refreshToken.replace("cfs1_", "cft1_"),
    person.refreshToken.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    "cfs1_",
    person.token,
  ];
  for (const token of tokens) {
    const answer = await refresh(token);
    t.equal(answer.status, 401, token);
    t.equal(answer.body.error, "invalid_token");
  }
  t.equal((await refresh(person.refreshToken)).status, 200);
});

await t.test("a session's id and a token of an earlier generation do not end the session", async (t) => {
  const person = await register(service);
  let present = person.refreshToken;
  for (let round = 1; round <= 3; round += 1) present = (await refresh(present)).body.refresh_token;
  for (const generation of [0, 1, 2, 3]) {
    const bytes = Buffer.from(present.slice(5), "base64url");
    bytes.writeUInt32BE(generation, 16);
    // The secret and the tag.
    randomBytes(48).copy(bytes, 20);
    const answer = await refresh(`cfs1_${bytes.toString("base64url")}`);
    t.match(answer, { status: 401, body: { error: "invalid_token" } }, `generation ${generation}`);
  }
  t.equal((await refresh(present)).status, 200);
});

await t.test("another spelling of a token that was used before is no replay", async (t) => {
  const person = await register(service);
  const { body } = await refresh(person.refreshToken);
  const bytes = Buffer.from(person.refreshToken.slice(5), "base64url");
  // The last character stands for four bits; the other two are not looked at by a decoder.
  const respelled = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    .split("")
    .map((last) => person.refreshToken.slice(0, -1) + last)
    .filter((text) => text !== person.refreshToken && Buffer.from(text.slice(5), "base64url").equals(bytes));
  t.equal(respelled.length, 3);
  for (const text of respelled) t.equal((await refresh(text)).body.error, "invalid_token");
  t.equal((await refresh(body.refresh_token)).status, 200);
});

await t.test("after the database was set back, a token from after that is invalid and no replay", async (t) => {
  const person = await register(service);
  const saved = await client.query("SELECT generation, refresh_hash FROM auth_sm.sessions WHERE id = $1", [
    person.sessionId,
  ]);
  const [row] = saved.rows as { generation: number; refresh_hash: Buffer }[];
  const { body } = await refresh(person.refreshToken);
  await client.query("UPDATE auth_sm.sessions SET generation = $2, refresh_hash = $3 WHERE id = $1", [
    person.sessionId,
    row?.generation,
    row?.refresh_hash,
  ]);
  t.equal((await refresh(body.refresh_token)).body.error, "invalid_token");
  t.equal((await account(person.token)).status, 200, "the session goes on");
  t.equal((await refresh(person.refreshToken)).body.refresh_token, body.refresh_token);
});

await t.test("a refresh waits for the one before it, and checks its token against the result", async (t) => {
  const person = await register(service);
  await client.query("BEGIN");
  await client.query("SELECT FROM auth_sm.sessions WHERE id = $1 FOR UPDATE", [person.sessionId]);
  const waiting = refresh(person.refreshToken);
  const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await until("the refresh waits", async () => (await execute(service, text)).length === 1);
  await client.query("UPDATE auth_sm.sessions SET generation = 3, refresh_hash = 'x' WHERE id = $1", [
    person.sessionId,
  ]);
  await client.query("COMMIT");
  t.equal((await waiting).body.error, "token_reused");
});

await t.test("a body without a token, or with one that is too long, is 400", async (t) => {
  for (const token of [undefined, "", 7, "x".repeat(513)]) t.equal((await refresh(token)).status, 400);
});

await t.test("a session lives for 30 days after its last refresh, not longer", async (t) => {
  const person = await register(service);
  clock.advance(30 * day - 1);
  const kept = await refresh(person.refreshToken);
  t.equal(kept.status, 200);
  clock.advance(30 * day);
  const late = await refresh(kept.body.refresh_token);
  t.equal(late.status, 401);
  t.equal(late.body.error, "invalid_token");
});

await t.test("only the hash of a refresh token is stored", async (t) => {
  const { refreshToken } = await register(service);
  const { body } = await refresh(refreshToken);
  const { rows } = await client.query("SELECT sessions::text AS text FROM auth_sm.sessions");
  const kept = (rows as { text: string }[]).map(({ text }) => text).join("\n");
  for (const token of [refreshToken, body.refresh_token]) {
    const secret = Buffer.from(token.slice(5), "base64url").subarray(20, 52);
    t.notOk(kept.includes(token.slice(5, 40)) || kept.includes(secret.toString("hex")));
  }
});

await t.test("a session is forgotten when its last refresh token has expired, however it ended", async (t) => {
  const database = createDatabase({
    url: service.postgres.url,
    schema,
    telemetry: createTelemetry({ service: "auth-sm", level: "silent" }),
  });
  t.teardown(() => database.close());
  const sweep = sessionSweep({ database, now: clock.now });
  const isKept = async ({ sessionId }: Person): Promise<boolean> =>
    (await client.query("SELECT FROM auth_sm.sessions WHERE id = $1", [sessionId])).rowCount === 1;

  const [unused, replayed, goingOn] = [await register(service), await register(service), await register(service)];
  await refresh((await refresh(replayed.refreshToken)).body.refresh_token);
  t.equal((await refresh(replayed.refreshToken)).body.error, "token_reused");
  clock.advance(30 * day - 1);
  const next = (await refresh(goingOn.refreshToken)).body.refresh_token;
  t.equal(await sweep.batch(), false);
  for (const person of [unused, replayed, goingOn]) t.ok(await isKept(person));
  t.equal((await refresh(replayed.refreshToken)).body.error, "token_reused", "it is told so all the time");

  clock.advance(1);
  t.equal(await sweep.batch(), false);
  for (const person of [unused, replayed]) t.notOk(await isKept(person));
  t.ok(await isKept(goingOn));
  t.equal((await refresh(replayed.refreshToken)).body.error, "invalid_token");
  t.equal((await refresh(next)).status, 200);
});

await t.test("which sessions ended lately is answered by an index", async (t) => {
  await client.query("SET enable_seqscan = off");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    "EXPLAIN SELECT id, revoked_at FROM auth_sm.sessions WHERE revoked_at >= now()",
  );
  await client.query("RESET enable_seqscan");
  t.match(rows.map((row) => row["QUERY PLAN"]).join("\n"), "sessions_revoked");
});
