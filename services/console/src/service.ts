import { ConsoleFilesError, readBuild } from "@coffer/console-app/manifest";
import { ConfigurationError } from "@coffer/env";
import type { ServiceInstance, Shared } from "@coffer/service/stateless";
import { createTelemetry } from "@coffer/telemetry";
import type { Config } from "./config.ts";
import { serveFiles } from "./serve-files.ts";

/**
 * Reads the files of the console into memory. The service has no store, no bus, and opens no connection.
 * @throws ConfigurationError when a file is missing or is not the one that the manifest names
 */
export function createService(config: Config, shared: Shared = {}): ServiceInstance {
  const files = filesOf(config.COFFER_CONSOLE_DIR);
  const { registry, destination } = shared;
  const telemetry = createTelemetry({
    service: "console",
    level: config.COFFER_LOG_LEVEL,
    ...(registry === undefined ? {} : { registry }),
    ...(destination === undefined ? {} : { destination }),
  });
  return {
    listener: serveFiles(files, telemetry),
    telemetry,
    ready: () => Promise.resolve({ ready: true, checks: {} }),
    close: () => Promise.resolve(),
  };
}

function filesOf(folder: string): ReturnType<typeof readBuild> {
  try {
    return readBuild(folder);
  } catch (error) {
    if (!(error instanceof ConsoleFilesError)) throw error;
    throw new ConfigurationError([`COFFER_CONSOLE_DIR: ${error.message}`]);
  }
}
