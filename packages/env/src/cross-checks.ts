import type { Given } from "./variable.ts";
import { variables } from "./variables.ts";

type Name = keyof typeof variables;

/**
 * Problems between variables that are valid one by one. A pair is compared only when the caller
 * requested both (`isSound` is false for a variable that was not read): an unused variable must not
 * stop a service.
 */
export function crossProblems(given: Given, isSound: (name: Name) => boolean): string[] {
  const both = (first: Name, second: Name): boolean => isSound(first) && isSound(second);
  const problems: string[] = [];

  if (both("COFFER_PORT", "COFFER_MANAGEMENT_PORT")) {
    const port = given(variables.COFFER_PORT);
    if (port !== 0 && port === given(variables.COFFER_MANAGEMENT_PORT))
      problems.push(`COFFER_MANAGEMENT_PORT must differ from COFFER_PORT, which is ${port} too`);
  }
  if (both("COFFER_NATS_URL", "COFFER_NATS_CREDENTIALS")) {
    const url = given(variables.COFFER_NATS_URL);
    const credentials = given(variables.COFFER_NATS_CREDENTIALS);
    if (url !== undefined && credentials === undefined)
      problems.push("COFFER_NATS_CREDENTIALS must be given with COFFER_NATS_URL: a given NATS has the users already");
    if (url === undefined && credentials !== undefined)
      problems.push("COFFER_NATS_URL must be given with COFFER_NATS_CREDENTIALS");
  }
  if (both("COFFER_STRIPE_PRICES", "COFFER_STRIPE_WEBHOOK_SECRETS")) {
    const prices = Object.keys(given(variables.COFFER_STRIPE_PRICES)).length;
    if (prices > 0 && given(variables.COFFER_STRIPE_WEBHOOK_SECRETS).length === 0)
      problems.push("COFFER_STRIPE_WEBHOOK_SECRETS must be given with COFFER_STRIPE_PRICES: without it billing is off");
  }
  return problems;
}
