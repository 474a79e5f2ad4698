import { readEnvironment } from "@coffer/env";

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the service's configuration from environment variables; docs/running.md has the table.
 * @throws ConfigurationError with all problems at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  return readEnvironment(environment, [
    "COFFER_HOST",
    "COFFER_PORT",
    "COFFER_MANAGEMENT_PORT",
    "COFFER_DRAIN_SECONDS",
    "COFFER_LOG_LEVEL",
    "COFFER_CONSOLE_DIR",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  ]);
}
