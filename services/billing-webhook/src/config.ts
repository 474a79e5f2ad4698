import { ConfigurationError } from "@coffer/env";
import { readServiceConfig } from "@coffer/service";

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the service's configuration from environment variables; docs/running.md has the table.
 * @throws ConfigurationError with all problems at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const config = readServiceConfig("billing-webhook", environment, [
    "COFFER_BILLING",
    "COFFER_STRIPE_WEBHOOK_SECRETS",
    "COFFER_STRIPE_PRICES",
  ]);
  // The other services have no secrets: only here is it a mistake.
  if (config.COFFER_BILLING === "stripe" && config.COFFER_STRIPE_WEBHOOK_SECRETS.length === 0)
    throw new ConfigurationError(["COFFER_STRIPE_WEBHOOK_SECRETS must be given with COFFER_BILLING=stripe"]);
  return config;
}
