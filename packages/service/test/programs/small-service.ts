import { readEnvironment } from "@coffer/env";
import { runService } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";

// A service that answers its path after the time that the path says, and stores nothing.
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
    ready: () => Promise.resolve({ ready: true, checks: {} }),
    close: () => {
      process.stderr.write("closed\n");
      return Promise.resolve();
    },
  }),
});
