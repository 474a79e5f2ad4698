import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import t from "tap";
import { countedInRedis, until } from "@coffer/testkit";
import type { Device } from "./support/device.ts";
import { connectRaw } from "./support/raw-device.ts";
import { type Replica, startReplica, startSync } from "./support/start.ts";
import { nothing } from "./support/vaults.ts";
import { recordEvent } from "./support/viewers.ts";

const { authSm, vaults, connect, url } = await startSync(t);
/** The limit of a session on that service. */
const few = { environment: { COFFER_LIMIT_USER: "5", COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" } };
const limited = await startSync(t, few);
/** The person whose requests are limited. */
let person = limited.authSm.person();
let addresses = 0;

/** Connects from another address, since upgrades are counted too. */
async function connectLimited(replica: Replica = limited): Promise<Device> {
  addresses += 1;
  const headers = { "x-forwarded-for": `203.0.113.${addresses}` };
  return limited.connect(person, { token: await limited.authSm.token(person), options: { headers } }, replica);
}

await t.test("bad input is answered with an error, and the connection stays", async (t) => {
  const device = await connect(authSm.person());
  const wrong: [string | object, RegExp][] = [
    ["{", /not JSON/],
    ["[]", /not an object/],
    [{ type: "hello" }, /type/],
    [{ last_sync: "2026-11-20T10:00:00Z" }, /type/],
    [{ type: "sync_request", last_sync: "yesterday" }, /last_sync/],
    [{ type: "sync_request", last_sync: 1 }, /last_sync/],
    [{ type: "sync_request", limit: 0 }, /limit/],
    [{ type: "sync_request", limit: 1001 }, /limit/],
    [{ type: "sync_request", limit: 1.5 }, /limit/],
  ];
  for (const [message, about] of wrong) {
    device.send(message);
    t.match(await device.next("error"), { type: "error", error: "invalid_request", message: about });
  }
  t.match(await device.sync(), { type: "sync_response" });

  device.send("{");
  t.match(await device.closed(), { code: 1008 }, "the tenth closes, also with valid requests in between");
  t.equal(device.messages.length, wrong.length + 1);
});

await t.test("an error never quotes the message", async (t) => {
  const device = await connect(authSm.person());
  for (const message of [
    { type: "canary-7f3a" },
    { type: "sync_request", last_sync: "canary-7f3a" },
    { type: "sync_request", limit: "canary-7f3a" },
  ]) {
    device.send(message);
    t.notMatch(JSON.stringify(await device.next("error")), "canary-7f3a");
  }
});

await t.test("a request may have no last_sync, or null; a limit from 1 to 1000; unknown fields", async (t) => {
  const device = await connect(authSm.person());
  const requestOf = async (request: object) => {
    await device.sync(request);
    const { last_sync, limit } = vaults.requests.at(-1) ?? {};
    return { last_sync, limit };
  };
  t.same(await requestOf({}), { last_sync: null, limit: null });
  t.same(await requestOf({ last_sync: null, limit: null }), { last_sync: null, limit: null });
  t.same(await requestOf({ limit: 1 }), { last_sync: null, limit: 1 });
  t.same(await requestOf({ limit: 1000, later: true }), { last_sync: null, limit: 1000 });
  t.same(await requestOf({ last_sync: "2026-11-20T10:00:00Z" }), { last_sync: "2026-11-20T10:00:00Z", limit: null });
});

await t.test("a binary message is bad input", async (t) => {
  const device = await connect(authSm.person());
  device.socket.send(Buffer.from('{"type":"sync_request"}'), { binary: true });
  t.match(await device.next("error"), { error: "invalid_request" });
});

await t.test("a message has at most 64 KiB", async (t) => {
  const device = await connect(authSm.person());
  const padded = (bytes: number): string => {
    const text = JSON.stringify({ type: "sync_request", later: "" });
    return text.replace('""', JSON.stringify("x".repeat(bytes - text.length)));
  };
  t.equal(padded(65_536).length, 65_536);
  const answer = device.next("sync_response");
  device.send(padded(65_536));
  await answer;
  device.send(padded(65_537));
  t.match(await device.closed(), { code: 1009 });
});

await t.test("a message in too many fragments is closed early", async (t) => {
  const device = await connect(authSm.person());
  for (let index = 0; index < 100_000 && device.socket.readyState === 1; index += 1) {
    device.socket.send("x", { fin: false });
    if (index % 1000 === 0) await new Promise(setImmediate);
  }
  t.match(await device.closed(), { code: 1008 });
});

await t.test("invalid UTF-8 is refused", async (t) => {
  const device = await connect(authSm.person());
  device.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  t.match(await device.closed(), { code: 1007 });
});

await t.test("a client that sends requests without waiting for answers is closed", async (t) => {
  const device = await connect(authSm.person());
  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await latch.promise;
    return nothing();
  };
  // One is in progress, sixteen wait.
  for (let index = 0; index < 17; index += 1) device.send({ type: "sync_request", limit: index + 1 });
  await until("the first request", () => vaults.requests.at(-1)?.limit === 1);
  latch.resolve(undefined);
  await until("all are answered", () => device.messages.length === 17);
  t.same(
    vaults.requests.slice(-17).map(({ limit }) => limit),
    Array.from({ length: 17 }, (_, index) => index + 1),
    "one after the other",
  );
  const second = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await second.promise;
    return nothing();
  };
  for (let index = 0; index < 18; index += 1) device.send({ type: "sync_request" });
  t.match(await device.closed(), { code: 1008 });
  second.resolve(undefined);
  vaults.changes = nothing;
});

await t.test("a client that sends nothing or garbage after the upgrade does no harm", async (t) => {
  const token = await authSm.token(authSm.person());
  const { hostname, port } = new URL(url);
  const socket = connectSocket({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  socket.write(
    [
      `GET /api/sync/ws?token=${token} HTTP/1.1`,
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "",
      "\xff\xff\xff\xff rubbish",
    ].join("\r\n"),
  );
  socket.resume();
  await once(socket, "close");
  t.match(await (await connect(authSm.person())).sync(), { type: "sync_response" });
});

await t.test("a session above the limit gets retry_after from every replica; other sessions do not", async (t) => {
  const second = await startReplica(t, limited, few);
  await until("it is on the bus", async () => (await second.service.ready()).degraded === false);
  const { vaults } = limited;
  const request = async ({ send, messages }: Device): Promise<void> => {
    const { length } = messages;
    send({ type: "sync_request" });
    await until("it is answered", () => messages.length > length);
  };
  const [device, elsewhere] = await countedInRedis([limited.logged, second.logged], async () => {
    person = limited.authSm.person();
    const [device, elsewhere] = [await connectLimited(), await connectLimited(second)];
    for (let times = 0; times < 6; times += 1) await request(device);
    await request(elsewhere);
    return [device, elsewhere];
  });
  t.same(
    device.messages.map(({ type }) => type),
    [...Array.from({ length: 5 }, () => "sync_response"), "error"],
  );
  t.match(device.messages.at(-1), {
    error: "rate_limited",
    message: /^too many sync requests of this session: try again in \d+ s$/,
  });
  const seconds = Number(device.messages.at(-1)?.["retry_after"]);
  t.ok(seconds >= 1 && seconds <= 60, `${seconds} s`);
  t.equal(vaults.requests.filter(({ user_id }) => user_id === person.userId).length, 5, "no request to vaults");

  t.match(elsewhere.messages, [{ type: "error", error: "rate_limited" }]);
  t.equal(elsewhere.socket.readyState, 1, "and the connection stays");

  vaults.viewers.set("10000000-0000-4000-8000-000000000001", [person.userId]);
  await vaults.publish(recordEvent("10000000-0000-4000-8000-000000000001", "pushed"));
  await until("changes are pushed nevertheless", () => device.pushes().length === 1);
  t.same(elsewhere.pushes(), [], "but not to a device without a response");
});

await t.test("a limited client still gets errors for bad messages", async (t) => {
  const device = await connectRaw(t, limited.url, await limited.authSm.token(person));
  // In one packet, so that the second arrives before the first is refused.
  device.socket.cork();
  device.send({ type: "sync_request" });
  device.send({ type: "hello" });
  device.socket.uncork();
  const texts = () => device.frames.filter(({ opcode }) => opcode === 1).map(({ payload }) => payload.toString());
  await until("both are answered", () => texts().length === 2);
  t.match(
    texts().map((text) => JSON.parse(text) as object),
    [{ error: "rate_limited" }, { error: "invalid_request" }],
  );
});

await t.test("an early request is refused without the limiter, and the tenth closes the connection", async (t) => {
  const refusals = async (): Promise<string | undefined> =>
    /coffer_ratelimit_decisions_total\{[^}]*decision="refused"[^}]*\} (\d+)/.exec(await limited.metrics())?.[1];
  const device = await connectLimited();
  const request = (): void => device.send({ type: "sync_request" });
  request();
  await device.next("error");
  const counted = await refusals();
  t.ok(Number(counted) > 0);
  for (let times = 1; times < 10; times += 1) {
    request();
    t.match(await device.next("error"), { error: "rate_limited" });
  }
  t.equal(await refusals(), counted);
  request();
  t.match(await device.closed(), { code: 1008 });
});
