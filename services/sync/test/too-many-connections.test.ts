import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import { until } from "@coffer/testkit";
import { WebSocket } from "ws";
import type { Person } from "./support/auth-sm.ts";
import type { Device } from "./support/device.ts";
import { connectRaw } from "./support/raw-device.ts";
import { startSync } from "./support/start.ts";
import { nothing } from "./support/vaults.ts";

const usual = await startSync(t);
const few = await startSync(t, {
  environment: { COFFER_LIMIT_SOCKETS_SESSION: "3", COFFER_LIMIT_SOCKETS_USER: "5" },
});
const { authSm, vaults } = few;
const isOpen = ({ socket }: Device): boolean => socket.readyState === WebSocket.OPEN;

/** Opens `count` connections, one after the other: the first is the oldest. */
async function connectTimes(count: number, person: Person, to = few): Promise<Device[]> {
  const devices: Device[] = [];
  for (let times = 0; times < count; times += 1) devices.push(await to.connect(person));
  return devices;
}

await t.test("of 21 connections of one session the oldest is closed with 1008; 20 stay", async (t) => {
  const person = usual.authSm.person();
  const devices = await connectTimes(20, person, usual);
  await devices.at(-1)?.sync();
  t.ok(devices.every(isOpen));
  const [newest] = await connectTimes(1, person, usual);
  t.match(await devices[0]?.closed(), { code: 1008, reason: "too many connections: a session may have 20" });
  await newest?.sync();
  t.equal(devices.filter(isOpen).length, 19);
});

await t.test("a connection with a request in progress is not idle", async (t) => {
  const person = authSm.person();
  const [busy, idle, other] = await connectTimes(3, person);
  const latch = Promise.withResolvers<undefined>();
  vaults.changes = async () => {
    await latch.promise;
    return nothing();
  };
  t.teardown(() => (vaults.changes = nothing));
  if (busy === undefined || idle === undefined || other === undefined) throw new TypeError("three are connected");
  const request = async (device: Device): Promise<void> => {
    const before = vaults.requests.length;
    device.send({ type: "sync_request" });
    await until("the request arrives", () => vaults.requests.length > before);
  };
  await request(busy);
  const [fourth] = await connectTimes(1, person);
  if (fourth === undefined) throw new TypeError("it is connected");
  t.match(await idle.closed(), { code: 1008 });
  await request(other);
  await request(fourth);
  const [fifth] = await connectTimes(1, person);
  t.match(await fifth?.closed(), { code: 1008 }, "when all the others are busy, the new one");
  latch.resolve(undefined);
  for (const device of [busy, other, fourth]) t.match(await device.next("sync_response"), { has_more: false });
  t.ok([busy, other, fourth].every(isOpen));

  const [sixth] = await connectTimes(1, person);
  t.match(await busy.closed(), { code: 1008 }, "once it is answered it is idle");
  await sixth?.sync();
});

await t.test("a user has a limit over all sessions; other users have their own", async (t) => {
  const person = authSm.person();
  const neighbours = await connectTimes(3, authSm.person());
  const first = await connectTimes(3, person);
  const second = await connectTimes(2, authSm.person(person));
  t.ok([...first, ...second].every(isOpen));
  const [sixth] = await connectTimes(1, authSm.person(person));
  t.match(await first[0]?.closed(), { code: 1008, reason: "too many connections: a user may have 5" });
  await sixth?.sync();
  t.ok([...first.slice(1), ...second, ...neighbours].every(isOpen));
});

await t.test("a client that does not answer the close does not free its slot", async (t) => {
  const person = authSm.person();
  const mute = await connectRaw(t, few.url, await authSm.token(person));
  const [second] = await connectTimes(3, person);
  await until("it is closed", () => mute.frames.find(({ opcode }) => opcode === 8)?.payload.readUInt16BE() === 1008);
  await connectTimes(1, person);
  t.match(await second?.closed(), { code: 1008 });
});

await t.test("1,500 attempts of one session leave 20 connections and no other memory", async (t) => {
  const token = await usual.authSm.token(usual.authSm.person());
  const sockets = new Set<WebSocket>();
  t.teardown(() => {
    for (const socket of sockets) socket.terminate();
  });
  const attempt = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const address = `${usual.url.replace(/^http/, "ws")}/api/sync/ws?token=${token}`;
      const socket = new WebSocket(address, { perMessageDeflate: false });
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", reject);
      socket.on("open", () => resolve());
    });
  const count = async (): Promise<number> =>
    Number(/^coffer_sync_connections\{service="sync"\} (\d+)$/m.exec(await usual.metrics())?.[1]);
  const before = await count();
  const held = async (attempts: number): Promise<number> => {
    for (let made = 0; made < attempts; made += 50) {
      await Promise.all(Array.from({ length: 50 }, attempt));
      await until("the others are closed", () => sockets.size === 20);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const base = await held(500);
  const grown = (await held(1_000)) - base;
  t.equal((await count()) - before, 20);
  t.ok(grown < 4 * 1024 * 1024, `grew by ${Math.round(grown / 1024)} KiB`);
});

/** Collects garbage, so that the rest is what is held. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)(); // set by --expose-gc
}
