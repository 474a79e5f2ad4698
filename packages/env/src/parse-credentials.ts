import { type PlanName, planNames } from "@coffer/contract";
import { type ServiceName, serviceNames } from "@coffer/events";
import { jsonObject } from "./parse.ts";
import { ValueProblem } from "./variable.ts";

export interface BusCredentials {
  user: string;
  password: string;
}

/**
 * JSON by service: `{"vaults": {"user": "vaults", "password": "…"}}`, or `{"vaults": "…"}` for a
 * user with the service's name. In a cluster each service gets only its own.
 */
export function busCredentials(text: string): Partial<Record<ServiceName, BusCredentials>> {
  const credentials: Partial<Record<ServiceName, BusCredentials>> = {};
  for (const [name, value] of Object.entries(jsonObject(text))) {
    const service = serviceNames.find((candidate) => candidate === name);
    if (service === undefined) throw new ValueProblem(`must name services only (${serviceNames.join(", ")})`);
    credentials[service] = credentialsOf(service, value);
  }
  return credentials;
}

function credentialsOf(service: ServiceName, value: unknown): BusCredentials {
  if (typeof value === "string" && value !== "") return { user: service, password: value };
  if (typeof value === "object" && value !== null && "user" in value && "password" in value) {
    const { user, password } = value;
    if (typeof user === "string" && user !== "" && typeof password === "string" && password !== "")
      return { user, password };
  }
  throw new ValueProblem(`must give a password, or {"user", "password"}, for ${service}`);
}

/** JSON: price id or lookup key → plan. The map has no prototype, so that any id can be looked up. */
export function stripePrices(text: string): Readonly<Record<string, PlanName>> {
  const prices = Object.create(null) as Record<string, PlanName>; // Object.create is typed `any`
  for (const [price, value] of Object.entries(jsonObject(text))) {
    const plan = planNames.find((candidate) => candidate === value);
    if (plan === undefined) throw new ValueProblem(`must give each price one of the plans ${planNames.join(", ")}`);
    prices[price] = plan;
  }
  return prices;
}

const keyBytes = 32;

/** A symmetric key of 32 bytes in base64url without padding. */
export function sealingKey(text: string): string {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== keyBytes || bytes.toString("base64url") !== text)
    throw new ValueProblem(`must be keys of ${keyBytes} bytes in base64url without padding`);
  return text;
}
