import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { readEnvironment } from "@coffer/env";
import { runService } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";

// A service without stores. It answers after the time in the path, and accepts upgrades. It closes
// upgraded connections a second before the deadline.
const upgraded = new Set<Duplex>();
await runService({
  name: "scanner",
  readConfig: (env) =>
    readEnvironment(env, [
      "COFFER_HOST",
      "COFFER_PORT",
      "COFFER_MANAGEMENT_PORT",
      "COFFER_DRAIN_SECONDS",
      "COFFER_LOG_LEVEL",
    ]),
  createService: (config) => ({
    telemetry: createTelemetry({ service: "scanner", level: config.COFFER_LOG_LEVEL }),
    listener: (request, response) => {
      setTimeout(() => response.end(request.url), Number(request.url?.slice(1)));
    },
    upgrade: (_request, socket) => {
      upgraded.add(socket);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    },
    drain: async (seconds) => {
      await pause((seconds - 1) * 1000);
      for (const socket of upgraded) socket.end(`farewell after ${seconds - 1} s of ${seconds}`);
    },
    ready: () => Promise.resolve({ ready: true, checks: {} }),
    close: () => {
      process.stderr.write("closed\n");
      return Promise.resolve();
    },
  }),
});
