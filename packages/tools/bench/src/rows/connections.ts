import { setTimeout as pause } from "node:timers/promises";
import { changeRecord } from "../change-record.ts";
import { residentMebibytes } from "../cpu.ts";
import { type BareServer, startBareServer } from "../devices/bare-server.ts";
import { type Devices, presentMoment, startDevices } from "../devices/devices.ts";
import { interleaved, median } from "../measure.ts";
import { absoluteFigure, type Figure, ratioFigure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";

/** Concurrent connections before the measurement. */
const atATime = 256;

/**
 * Many devices at one replica: the cost of an idle one, a push to all, and their reconnection when
 * it dies.
 */
export const connections: VaultRow = {
  name: "connections",
  async run(bench: VaultBench): Promise<Figure[]> {
    const { coffer, seeded } = bench;
    const count = seeded.size.connections;
    const replica = await coffer.startAnother("sync");
    const devices = startDevices();
    const others = startDevices();
    const bare = await startBareServer({ postgresUrl: coffer.postgresUrl, vaultId: seeded.large.vaultId });
    try {
      const tokens = seeded.people.map(({ token }) => token);
      const since = await presentMoment(devices, { url: replica.url, token: seeded.people[0].token });
      const open = { url: replica.url, tokens, count, atATime, sync: { since } };
      const idle = await kibibytesEach(replica.pid, count, () => devices.request("open", open));
      const idleBare = await kibibytesEach(bare.pid, count, () =>
        others.request("open", { url: bare.url, tokens: [""], count, atATime, sync: null }),
      );
      const { a, b } = await interleaved(
        5,
        () => pushToAll(bench, devices, count),
        () => broadcastToAll(bare, others, count),
      );
      replica.kill();
      const { seconds, refused } = await comeBack(devices, { ...open, url: coffer.urls.sync ?? "", atATime: count });
      const name = `push to ${count} devices of a replica`;
      return [
        ratioFigure("idle connection", "KiB", idle, idleBare, { atMost: 2 }),
        ratioFigure(`${name}: the last`, "ms", median(a.map(({ last }) => last)), median(b.map(({ last }) => last)), {
          atMost: 1.5,
        }),
        absoluteFigure(`${name}: p99`, "ms", median(a.map(({ p99 }) => p99)), 250, median(b.map(({ p99 }) => p99))),
        absoluteFigure(`${count} devices back and synced after a replica was killed`, "s", seconds, 30),
        absoluteFigure(`${count} devices that come back at once: refused`, "times", refused, 0),
      ];
    } finally {
      devices.end();
      others.end();
      bare.end();
      await replica.stop();
    }
  },
};

async function kibibytesEach(pid: number, count: number, open: () => Promise<unknown>): Promise<number> {
  const before = residentMebibytes(pid);
  await open();
  // The memory of connecting itself is mostly freed by then.
  await pause(2_000);
  return ((residentMebibytes(pid) - before) * 1024) / count;
}

interface Spread {
  last: number;
  p99: number;
}

function spreadOf(at: readonly number[], began: number): Spread {
  const times = at.map((time) => Math.max(0, time - began)).sort((a, b) => a - b);
  return { last: times.at(-1) ?? Number.NaN, p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN };
}

async function pushToAll(bench: VaultBench, devices: Devices, count: number): Promise<Spread> {
  await devices.request("arm", null);
  const answered = await changeRecord(bench);
  const { at } = await devices.request("arrivals", { count });
  return spreadOf(at, answered);
}

async function broadcastToAll(bare: BareServer, devices: Devices, count: number): Promise<Spread> {
  await devices.request("arm", null);
  // As long as a push.
  const began = await bare.broadcast("x".repeat(190));
  const { at } = await devices.request("arrivals", { count });
  return spreadOf(at, began);
}

/** All devices lose their connection at once and reconnect to another replica, until each has synced. */
async function comeBack(
  devices: Devices,
  open: Parameters<typeof devices.request<"open">>[1],
): Promise<{ seconds: number; refused: number }> {
  await devices.request("close", null);
  const { milliseconds, refused } = await devices.request("open", open);
  return { seconds: milliseconds / 1000, refused };
}
