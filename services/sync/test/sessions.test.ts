import { randomUUID } from "node:crypto";
import { revokedSessionsKey } from "@coffer/events";
import { Redis } from "ioredis";
import t from "tap";
import { until } from "@coffer/testkit";
import { connectRaw } from "./support/raw-device.ts";
import { startSync } from "./support/start.ts";
import { moment, nothing } from "./support/vaults.ts";

const sync = await startSync(t, { timings: { farewell: 4_000, reason: 200 } });
const { authSm, vaults, connect, nats } = sync;
const store = new Redis(sync.redis.url);
t.teardown(() => store.disconnect());

const backAgain = async (): Promise<void> => {
  await until("all are back", async () => (await sync.service.ready()).degraded === false);
  await until("the others too", () => authSm.bus.connected && vaults.bus.connected);
};

const reasons = [
  "admin_revoked",
  "user_revoked",
  "password_changed",
  "second_factor_changed",
  "token_reused",
  "member_removed",
  "member_suspended",
] as const;

await t.test("a revoked session gets a logout with the reason, and is closed with 4001 later", async (t) => {
  // All at once: the delay before the close is long, so that a slow machine sees it too.
  const ended = async (reason: (typeof reasons)[number]): Promise<void> => {
    const person = authSm.person();
    const [device, sibling] = [await connect(person), await connect(authSm.person(person))];
    await Promise.all([device.sync(), sibling.sync()]);
    await authSm.end(person, reason);
    const logout = {
      type: "push",
      action: "logout",
      record_id: null,
      vault_id: null,
      updated_at: null,
      session_id: person.sessionId,
      reason,
    };
    t.strictSame(await device.next("push"), logout, reason);
    t.equal(device.socket.readyState, 1, `${reason}: not at once`);
    t.match(await device.closed(), { code: 4001 }, reason);
    t.equal(sibling.socket.readyState, 1, reason);
    t.same(sibling.pushes(), [], `${reason}: another session of the same person is none`);
  };
  await Promise.all(reasons.map(ended));
});

await t.test("a device that logs out itself is closed with 4001, without a push", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  await device.sync();
  await authSm.end(person, "logged_out");
  t.match(await device.closed(), { code: 4001 });
  t.same(device.pushes(), []);
});

await t.test("a logout is pushed before the first sync too", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  await authSm.end(person, "admin_revoked");
  t.match(await device.next("push"), { action: "logout" });
});

await t.test("after the logout no message is sent or answered", async (t) => {
  const person = authSm.person();
  const vaultId = "0192f5d2-7c65-7000-8000-000000000001";
  const observer = authSm.person();
  vaults.viewers.set(vaultId, [person.userId, observer.userId]);
  const [device, other] = [await connect(person), await connect(observer)];
  await Promise.all([device.sync(), other.sync()]);
  const requests = vaults.requests.length;
  await authSm.end(person, "admin_revoked");
  await device.next("push");
  device.send({ type: "sync_request" });
  device.send("{");
  await vaults.publish({
    vault_id: vaultId,
    changes: [{ action: "record_updated", record_id: "secret", updated_at: moment() }],
  });
  await until("others have it", () => other.pushes().length === 1);
  t.match(await device.closed(), { code: 4001 });
  t.match(device.messages, [{ type: "sync_response" }, { action: "logout" }]);
  t.equal(device.messages.length, 2);
  t.equal(vaults.requests.length, requests);
});

/** A response with `count` records of 32 KiB at once, and the rest when the latch opens. */
function answerInTwo(records: number) {
  const latch = Promise.withResolvers<undefined>();
  const encrypted_data = "A".repeat(32 * 1024);
  const change = () => {
    const [id, at] = [randomUUID(), moment()];
    const times = { updated_at: at, server_timestamp: at };
    return { id, vault_id: randomUUID(), action: "created" as const, type: "login", encrypted_data, ...times };
  };
  vaults.changes = async ({ after }) => {
    if (after === null) return { ...nothing(), changes: Array.from({ length: records }, change), after: "next" };
    await latch.promise;
    return nothing();
  };
  return latch;
}

await t.test(
  "a session that ends while an answer is gathered gets the logout, and nothing of the answer",
  async (t) => {
    const person = authSm.person();
    const latch = answerInTwo(1);
    const requests = vaults.requests.length;
    const device = await connect(person);
    device.send({ type: "sync_request" });
    device.send({ type: "sync_request" });
    device.send("{");
    await until("the second part is requested", () => vaults.requests.length === requests + 2);
    await authSm.end(person, "admin_revoked");
    t.match(await device.next("push"), { action: "logout", session_id: person.sessionId, reason: "admin_revoked" });
    latch.resolve(undefined);
    t.match(await device.closed(), { code: 4001 });
    t.equal(device.messages.length, 1);
    t.equal(vaults.requests.length, requests + 2, "the second request is not processed");
    vaults.changes = nothing;
  },
);

await t.test("a connection in the middle of a response is closed at once, before the response ends", async (t) => {
  const person = authSm.person();
  const latch = answerInTwo(5);
  const device = await connectRaw(t, sync.url, await authSm.token(person));
  device.send({ type: "sync_request" });
  await until("half of it is there", () => device.frames.length > 0);
  await authSm.end(person, "admin_revoked");
  await until("it is closed", () => device.frames.some(({ opcode }) => opcode === 8));
  latch.resolve(undefined);
  t.equal(device.frames.findLast(({ opcode }) => opcode === 8)?.payload.readUInt16BE(0), 4001);
  t.notOk(
    device.frames.some(({ fin, opcode }) => fin && opcode < 8),
    "no message is whole, and none is put into it",
  );
  vaults.changes = nothing;
});

await t.test("a revocation in Redis alone closes with 4001, within about a second", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  await device.sync();
  const began = performance.now();
  await store.zadd(revokedSessionsKey, Date.now(), person.sessionId);
  t.match(await device.closed(), { code: 4001 });
  t.ok(performance.now() - began < 15_000, "before the next request to auth-sm");
  t.same(device.pushes(), []);
});

await t.test("also with the bus away", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  await device.sync();
  await nats.stop();
  await until("it is away", async () => (await sync.service.ready()).checks["nats"] === "down");
  t.equal(device.socket.readyState, 1, "open connections stay");
  await store.zadd(revokedSessionsKey, Date.now(), person.sessionId);
  t.match(await device.closed(), { code: 4001 });
  await nats.start();
  await backAgain();
});

await t.test("a revocation during an outage of the bus and Redis is read from auth-sm", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  await device.sync();
  await nats.stop();
  await until("it is away", async () => (await sync.service.ready()).checks["nats"] === "down");
  authSm.ended.push({ session_id: person.sessionId, at: new Date().toISOString() });
  await nats.start();
  t.match(await device.closed(), { code: 4001 });
  await backAgain();
});

await t.test("a token that expires during the connection: closed with 4001 in that second", async (t) => {
  const device = await connect(authSm.person(), { token: await authSm.token(authSm.person(), 9) });
  const { exp } = JSON.parse(
    Buffer.from(new URL(device.socket.url).searchParams.get("token")?.split(".")[1] ?? "", "base64url").toString(),
  ) as { exp: number };
  await device.sync();
  t.match(await device.closed(), { code: 4001, reason: /expired/ });
  const late = Date.now() - exp * 1000;
  t.ok(late >= 0 && late < 15_000, `${late} ms after it`);
});
