import { ConfigurationError } from "@coffer/env";
import { readServiceConfig } from "@coffer/service";

export type Config = ReturnType<typeof readConfig>;

const own = ["COFFER_BILLING", "COFFER_SIEM_KEYS", "COFFER_SIEM_ALLOWED_CIDRS"] as const;

/**
 * Reads the service's configuration from environment variables; docs/running.md has the table.
 * @throws ConfigurationError with all problems at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const config = readServiceConfig("siem-forwarder", environment, own);
  if (config.COFFER_SIEM_KEYS.length === 0) throw new ConfigurationError(["COFFER_SIEM_KEYS is required"]);
  return config;
}
