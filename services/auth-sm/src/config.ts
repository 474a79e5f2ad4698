import { readServiceConfig } from "@coffer/service";

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the configuration from environment variables; docs/running.md lists them.
 * @throws ConfigurationError with all problems at once
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  return readServiceConfig("auth-sm", environment, [
    "COFFER_SIGNUPS",
    "COFFER_QUOTA_SECRETS",
    "COFFER_QUOTA_MIB",
    "COFFER_BILLING",
  ]);
}
