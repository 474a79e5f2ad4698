import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import { until } from "@coffer/testkit";
import type { WebSocket } from "ws";
import { startSync } from "./support/start.ts";

// Limits for one message. Client and service are measured together, in this process.
const mostCpuMilliseconds = 100;
const mostBytes = 64 * 1024 * 1024;

const mostMessageBytes = 64 * 1024;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // a function of V8
const { authSm, connect } = await startSync(t);

/** Repeats a text up to the maximum size of a message. */
const filled = (start: string, unit: string, end: string): string =>
  start + unit.repeat(Math.floor((mostMessageBytes - start.length - end.length) / unit.length)) + end;
const keys = (count: number): string => Array.from({ length: count }, (_, n) => `"${n.toString(36)}":0`).join(",");
const half = (mostMessageBytes - 64) / 2;

const costly: Record<string, string> = {
  "nested lists": "[".repeat(mostMessageBytes / 2) + "]".repeat(mostMessageBytes / 2),
  "nested lists in a request": `{"type":"sync_request","x":${"[".repeat(half)}${"]".repeat(half)}}`.slice(
    0,
    mostMessageBytes,
  ),
  "nested objects": `${'{"a":'.repeat(10_000)}0${"}".repeat(10_000)}`,
  "many keys": `{"type":"sync_request",${keys(7_500)}}`,
  "one key again and again": filled('{"type":"sync_request"', ',"type":0', ',"type":"sync_request"}'),
  "empty items": filled('{"type":"sync_request","x":[', "{},", "0]}"),
  "a long last_sync": filled('{"type":"sync_request","last_sync":"', "2", '"}'),
  "a last_sync with a long fraction": filled('{"type":"sync_request","last_sync":"2026-11-20T10:00:00.', "0", 'Z"}'),
  "a list in every field": filled('{"type":[],"last_sync":[],"limit":[', "[],", "0]}"),
  "a long number": filled('{"type":"sync_request","limit":', "9", "}"),
  "escaped characters": filled('{"type":"', "\\u0041", '"}'),
  "malformed JSON at the very end": filled('{"type":"sync_request","x":[', "0,", "]}"),
};

for (const [name, text] of Object.entries(costly)) {
  await t.test(`a message costs little: ${name}`, async (t) => {
    t.ok(Buffer.byteLength(text) <= mostMessageBytes);
    for (const isTorn of [false, true]) {
      const device = await connect(authSm.person());
      await device.sync();
      const answered = device.messages.length;
      const [cpu, memory] = [process.cpuUsage(), process.memoryUsage().rss];
      if (isTorn) tear(device.socket, text);
      else device.send(text);
      await until("it is answered", () => device.messages.length > answered);
      const { user, system } = process.cpuUsage(cpu);
      const grown = process.memoryUsage().rss - memory;
      const what = isTorn ? "in 64 fragments" : "whole";
      t.ok((user + system) / 1000 <= mostCpuMilliseconds, `${what}: ${(user + system) / 1000} ms`);
      t.ok(grown <= mostBytes, `${what}: ${grown} bytes`);
      device.socket.terminate();
    }
  });
}

/** Sends a text in the maximum number of fragments. */
function tear(socket: WebSocket, text: string): void {
  const size = Math.ceil(text.length / 64);
  for (let from = 0; from < text.length; from += size)
    socket.send(text.slice(from, from + size), { fin: from + size >= text.length });
}

await t.test("pings that are faster than the reader of their pongs do not fill memory", async (t) => {
  const device = await connect(authSm.person());
  await device.sync();
  device.socket.pause();
  const memory = inUse();
  for (let sent = 0; sent < 200_000; sent += 1_000) {
    for (let times = 0; times < 999; times += 1) device.socket.ping("x".repeat(125));
    await new Promise<void>((resolve) => device.socket.ping("", undefined, () => resolve()));
  }
  const grown = inUse() - memory;
  t.ok(grown <= mostBytes, `${grown} bytes`);
  device.socket.terminate();
});

/** Bytes in use after a collection, which frees the test's own pings. */
function inUse(): number {
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
