import t from "tap";
import { until } from "@coffer/testkit";
import type { Connection } from "../src/connections/connection.ts";
import { createHeartbeat } from "../src/connections/heartbeat.ts";
import { timings } from "../src/timings.ts";
import { connectRaw } from "./support/raw-device.ts";
import { startSync } from "./support/start.ts";

/** A connection with only the fields that a heartbeat uses. */
const connectionOf = (socket: { ping: (done: () => void) => void; terminate?: () => void }): Connection =>
  ({
    isOpen: true,
    pingHandedOver: 0,
    pongDue: 0,
    socket: { ...socket, ping: (_data: unknown, _mask: boolean, done: () => void) => socket.ping(done) },
  }) as unknown as Connection; // the fields that are used

await t.test("a ping every interval, at another moment for each connection", (t) => {
  let now = 0;
  const heartbeat = createHeartbeat(timings, () => now);
  const pings = Array.from({ length: 30 }, () => {
    const times: number[] = [];
    const connection = connectionOf({
      ping: (done) => {
        times.push(now);
        done();
        heartbeat.pong(connection);
      },
    });
    heartbeat.add(connection);
    return times;
  });
  for (; now <= 4 * timings.ping; now += 100) heartbeat.tick();
  for (const times of pings) {
    const [first = 0] = times;
    const { ping } = timings;
    t.same(times, [first, first + ping, first + 2 * ping, first + 3 * ping]);
  }
  const firsts = pings.map(([first = 0]) => first);
  t.ok(Math.max(...firsts) <= timings.ping);
  t.ok(Math.max(...firsts) - Math.min(...firsts) > timings.ping / 4, "not all at once");
  t.end();
});

await t.test("every connection is pinged regularly; a client that answers stays", async (t) => {
  const ping = 600;
  const { authSm, connect } = await startSync(t, { timings: { ping, pong: 5_000 } });
  const began = performance.now();
  const pings = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const device = await connect(authSm.person());
      const pinged = { device, count: 0 };
      device.socket.on("ping", () => (pinged.count += 1));
      return pinged;
    }),
  );
  await until("each has had six", () => pings.every(({ count }) => count >= 6));
  // A machine that pauses delays pings but adds at most two: one in progress and one caught up.
  const most = (performance.now() - began) / ping + 2;
  for (const { device, count } of pings) {
    t.equal(device.socket.readyState, 1);
    t.ok(count <= most, `${count} of at most ${most}`);
  }
});

await t.test("no pong: the connection is terminated, without a close frame", async (t) => {
  const { authSm, url, metrics } = await startSync(t, { timings: { ping: 4_000, pong: 3_000 } });
  const [silent, lively] = [
    await connectRaw(t, url, await authSm.token(authSm.person())),
    await connectRaw(t, url, await authSm.token(authSm.person())),
  ];
  const answer = setInterval(() => lively.pong(), 20);
  t.teardown(() => clearInterval(answer));
  await silent.closed();
  // More than one if the first was late.
  t.ok(silent.frames.length > 0);
  t.ok(
    silent.frames.every(({ opcode }) => opcode === 9),
    "pings and nothing else",
  );
  await until("the lively one has had three pings", () => lively.frames.length >= 3);
  t.equal(lively.socket.readyState, "open");
  t.match(await metrics(), 'coffer_sync_closes_total{service="sync",code="1006"} 1');
});

await t.test("a ping that cannot be written: closed with 1013 after the time of any write", async (t) => {
  const { authSm, vaults, url, metrics } = await startSync(t, { timings: { ping: 200, pong: 2_000, taken: 600 } });
  const device = await connectRaw(t, url, await authSm.token(authSm.person()));
  const answer = setInterval(() => device.pong(), 20);
  t.teardown(() => clearInterval(answer));
  device.send({ type: "sync_request" });
  await until("it is answered", () => device.frames.some(({ opcode }) => opcode === 1));
  const vaultId = "0192f5d2-7c65-7000-8000-000000000001";
  vaults.viewers.set(vaultId, [vaults.requests[0]?.user_id ?? ""]);
  device.socket.pause();
  let count = 0;
  await until("it is given up", async () => {
    const changes = Array.from({ length: 1000 }, () => ({
      action: "record_updated" as const,
      record_id: "always the same one",
      updated_at: `2026-11-20T10:00:00.${String((count += 1)).padStart(6, "0")}Z`,
    }));
    await vaults.publish({ vault_id: vaultId, changes });
    return (await metrics()).includes('coffer_sync_closes_total{service="sync",code="1013"} 1');
  });
  device.socket.resume();
  await device.closed();
});

await t.test("after a pause of the process, unread pongs still count", (t) => {
  let now = 0;
  let terminated = 0;
  const heartbeat = createHeartbeat(timings, () => now);
  const connection = connectionOf({ ping: (done) => done(), terminate: () => (terminated += 1) });
  heartbeat.add(connection);
  for (; connection.pongDue === 0; now += 100) heartbeat.tick();
  t.ok(now <= 30_200, "it was pinged");
  now += 20_000;
  heartbeat.tick();
  t.equal(terminated, 0, "not in the first tick after it");
  now += 100;
  heartbeat.tick();
  t.equal(terminated, 1, "but in the next");
  t.end();
});

await t.test("the interval is 30 seconds, a pong may take 10, and a write 30", (t) => {
  t.match(timings, { ping: 30_000, pong: 10_000, taken: 30_000, farewell: 5_000, catchUp: 30_000 });
  t.end();
});

await t.test("with default settings: a ping within 30 seconds, and 10 seconds after it the end", async (t) => {
  const { authSm, url } = await startSync(t);
  const device = await connectRaw(t, url, await authSm.token(authSm.person()));
  const connected = performance.now();
  await until("it is pinged", () => device.frames.length > 0, 40);
  const pinged = performance.now();
  t.ok(pinged - connected < 36_000, `${pinged - connected} ms`);
  await device.closed();
  const waited = performance.now() - pinged;
  t.ok(waited > 6_000 && waited < 15_000, `${waited} ms`);
});
