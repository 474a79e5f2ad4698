import { readStatelessConfig } from "@coffer/service/stateless";

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the service's configuration from environment variables; docs/running.md has the table.
 * @throws ConfigurationError with all problems at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  return readStatelessConfig("scanner", environment);
}
