import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { revokedSessionsKey } from "@coffer/events";
import { Redis } from "ioredis";
import t from "tap";
import { type ClientOptions, WebSocket } from "ws";
import { countedInRedis, until } from "@coffer/testkit";
import { connectDevice } from "./support/device.ts";
import { startReplica, startSync } from "./support/start.ts";

const sync = await startSync(t, { environment: { COFFER_SYNC_ALLOWED_ORIGINS: "https://vault.example" } });
const { authSm, connect, url } = sync;
const address = `${url.replace("http", "ws")}/api/sync/ws`;

interface Refusal {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: { error?: string; message?: string };
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

/** Connects with a WebSocket client and reads the refusal. */
async function refused(path: string, protocols: string[] = [], options: ClientOptions = {}): Promise<Refusal> {
  const socket = new WebSocket(path, protocols, options);
  socket.on("error", () => undefined);
  const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  const body = JSON.parse(await bodyOf(response)) as Refusal["body"]; // the tests check its shape
  return { status: response.statusCode, headers: response.headers, body };
}

await t.test("the token is taken from the query", async (t) => {
  const device = await connect(authSm.person());
  t.equal(device.socket.protocol, "");
  t.match(await device.sync(), { type: "sync_response" });
});

await t.test("the token is taken from Sec-WebSocket-Protocol, and coffer.sync.v1 is selected", async (t) => {
  const token = await authSm.token(authSm.person());
  for (const protocols of [
    ["coffer.sync.v1", `bearer.${token}`],
    [`bearer.${token}`, "coffer.sync.v1"],
    ["coffer.sync.v2", "coffer.sync.v1", `bearer.${token}`],
  ]) {
    const device = await connectDevice(t, url, { protocols });
    t.equal(device.socket.protocol, "coffer.sync.v1");
    t.match(await device.sync(), { type: "sync_response" });
  }
});

await t.test("a single protocol that is a token, bare or behind bearer., is accepted and selected", async (t) => {
  const token = await authSm.token(authSm.person());
  for (const protocol of [token, `bearer.${token}`]) {
    const device = await connectDevice(t, url, { protocols: [protocol] });
    t.equal(device.socket.protocol, protocol);
    t.match(await device.sync(), { type: "sync_response" });
  }
});

await t.test("a token in the query and protocols without one: coffer.sync.v1 is selected if offered", async (t) => {
  const token = await authSm.token(authSm.person());
  const device = await connectDevice(t, url, { token, protocols: ["coffer.sync.v1"] });
  t.equal(device.socket.protocol, "coffer.sync.v1");
  const both = await connectDevice(t, url, { token, protocols: ["coffer.sync.v1", `bearer.${token}`] });
  t.equal(both.socket.protocol, "coffer.sync.v1");
});

await t.test("without a token, or with an unknown one, the upgrade is refused with 401", async (t) => {
  const person = authSm.person();
  const [token, other] = [await authSm.token(person), await authSm.token(authSm.person())];
  const cases: Record<string, [string, string[]?]> = {
    "no token": [address],
    "an empty one": [`${address}?token=`],
    "no JWT": [`${address}?token=abc`],
    "a cut one": [`${address}?token=${token.slice(0, -2)}`],
    "one of another key": [`${address}?token=${await authSm.forged(person)}`],
    "two in the query": [`${address}?token=${token}&token=${other}`],
    "another in the protocols": [`${address}?token=${token}`, ["coffer.sync.v1", `bearer.${other}`]],
    "only the name of the protocol": [address, ["coffer.sync.v1"]],
    "a protocol that is no token": [address, ["json"]],
    "two protocols without ours": [address, [token, "json"]],
    "a bare token beside ours": [address, ["coffer.sync.v1", token]],
  };
  for (const [name, [path, protocols]] of Object.entries(cases)) {
    const { status, headers, body } = await refused(path, protocols);
    t.equal(status, 401, name);
    t.match(body, { error: "invalid_token", message: String, request_id: String }, name);
    t.equal(headers["www-authenticate"], "Bearer", name);
  }
});

await t.test("an expired token: the upgrade succeeds and the connection is closed with 4001", async (t) => {
  const device = await connect(authSm.person(), { token: await authSm.token(authSm.person(), 0) });
  t.match(await device.closed(), { code: 4001, reason: /expired/ });
  t.same(device.messages, []);
});

await t.test("a session that has ended is treated like an expired token", async (t) => {
  const person = authSm.person();
  const store = new Redis(sync.redis.url);
  t.teardown(() => store.disconnect());
  await store.zadd(revokedSessionsKey, Date.now(), person.sessionId);
  const token = await authSm.token(person);
  await until("it is known", async () => {
    const device = await connect(person, { token });
    device.send({ type: "sync_request" });
    await until("something comes", () => device.messages.length > 0 || device.socket.readyState > 1);
    if (device.messages.length > 0) return false;
    t.match(await device.closed(), { code: 4001 });
    return true;
  });
});

await t.test("a session that is known to have ended gets no response", async (t) => {
  const person = authSm.person();
  const token = await authSm.token(person);
  const earlier = await connect(person, { token });
  const store = new Redis(sync.redis.url);
  t.teardown(() => store.disconnect());
  await store.zadd(revokedSessionsKey, Date.now(), person.sessionId);
  t.match(await earlier.closed(), { code: 4001 }, "now it is known");
  const device = await connect(person, { token });
  device.send({ type: "sync_request" });
  await until("something comes", () => device.messages.length > 0 || device.socket.readyState > 1);
  t.same(device.messages, []);
  t.match(await device.closed(), { code: 4001, reason: /ended/ });
});

await t.test("the origin of a browser's page must be allowed", async (t) => {
  const token = await authSm.token(authSm.person());
  const device = await connect(authSm.person(), { token, options: { origin: "https://vault.example" } });
  t.match(await device.sync(), { type: "sync_response" });
  for (const origin of ["https://evil.example", "http://vault.example", "https://vault.example.evil.example", "null"]) {
    const { status, body } = await refused(`${address}?token=${token}`, [], { origin });
    t.equal(status, 403, origin);
    t.match(body, { error: "access_denied" });
  }
});

await t.test("the response to an upgrade has its request id and the rest of the limit", async (t) => {
  const socket = new WebSocket(`${address}?token=${await authSm.token(authSm.person())}`, {
    headers: { "x-request-id": "upgrade-1" },
  });
  t.teardown(() => socket.terminate());
  const [{ headers }] = (await once(socket, "upgrade")) as [IncomingMessage];
  t.equal(headers["x-request-id"], "upgrade-1");
  t.match(headers["ratelimit-policy"], /^"user";q=100000;w=60$/);
  t.equal(headers["sec-websocket-extensions"], undefined, "nothing is compressed");
});

await t.test("upgrades are counted in the bucket `user`", async (t) => {
  const environment = { COFFER_LIMIT_USER: "2", COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" };
  const replica = await startReplica(t, sync, { environment });
  const limited = `${replica.url.replace("http", "ws")}/api/sync/ws`;
  const refusals = await countedInRedis([replica.logged], async (attempt) => {
    const options = { headers: { "x-forwarded-for": `203.0.113.${attempt}` } };
    const knock = (): Promise<Refusal> => refused(limited, [], options);
    return [await knock(), await knock(), await knock()];
  });
  t.same(
    refusals.map(({ status }) => status),
    [401, 401, 429],
  );
  t.match(refusals.at(-1), { status: 429, body: { error: "rate_limited" }, headers: { "retry-after": /^\d+$/ } });
});

await t.test("a request that is not a WebSocket upgrade gets the usual error body", async (t) => {
  const token = await authSm.token(authSm.person());
  const wrong: Record<string, string>[] = [
    { "sec-websocket-version": "7", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
    { "sec-websocket-version": "13", "sec-websocket-key": "short" },
    { "sec-websocket-version": "13" },
    {
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol": "coffer.sync.v1, coffer.sync.v1",
    },
  ];
  for (const headers of wrong) {
    const outgoing = request(`${url}/api/sync/ws?token=${token}`, {
      headers: { connection: "Upgrade", upgrade: "websocket", ...headers },
    }).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    t.equal(response.statusCode, 400, JSON.stringify(headers));
    t.match(JSON.parse(await bodyOf(response)), { error: "invalid_request", request_id: String });
  }
  const plain = await fetch(`${url}/api/sync/ws?token=${token}`);
  t.equal(plain.status, 404);
  t.match(await plain.json(), { error: "not_found" });
});

/** Collects garbage, so that the rest is what is held. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)(); // set by --expose-gc
}

await t.test("5,000 upgrades without a valid token leave no memory behind", async (t) => {
  const forged = await authSm.forged(authSm.person());
  const expired = await authSm.token(authSm.person(), 0);
  const knock = async (index: number): Promise<void> => {
    const path = index % 3 === 0 ? address : `${address}?token=${index % 3 === 1 ? forged : expired}`;
    const socket = new WebSocket(path, { perMessageDeflate: false });
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
  };
  const round = async (count: number): Promise<number> => {
    for (let from = 0; from < count; from += 50)
      await Promise.all(Array.from({ length: 50 }, (_, i) => knock(from + i)));
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await round(500);
  const after = await round(5_000);
  t.ok(after - before < 4 * 1024 * 1024, `grew by ${Math.round((after - before) / 1024)} KiB`);
  t.match(await sync.metrics(), /^coffer_sync_connections\{service="sync"\} \d\d?$/m);
});

await t.test("no token is in a log or a metric", async (t) => {
  const device = await connect(authSm.person());
  await device.sync();
  const [, payload = ""] = new URL(device.socket.url).searchParams.get("token")?.split(".") ?? [];
  t.ok(payload.length > 50);
  const metrics = await sync.metrics();
  for (const [where, text] of Object.entries({ log: sync.logged(), metrics })) {
    t.ok(text.length > 100, where);
    t.notMatch(text, payload, where);
    t.notMatch(text, "eyJ", where);
    t.notMatch(text, "token=", where);
  }
  t.match(metrics, /coffer_auth_failures_total\{service="sync",reason="user_signature"\} \d/);
  t.match(metrics, /coffer_sync_closes_total\{service="sync",code="4001"\} \d/);
});
