import type { ServiceName } from "@coffer/events";
import { serviceNames } from "@coffer/events";
import { jsonObject } from "./parse.ts";
import { ValueProblem } from "./variable.ts";

export interface BusCredentials {
  user: string;
  password: string;
}

/**
 * JSON by service: `{"vaults": {"user": "vaults", "password": "…"}}`, or `{"vaults": "…"}` for a user named as its
 * service. A service may be missing: in a cluster each is given its own.
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
