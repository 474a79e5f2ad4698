import { type Authenticate, type AuthInput, bearerToken, chosenOrg } from "@coffer/http";
import { identifyMachine } from "@coffer/events";
import type { User } from "@coffer/service/stateless";
import { isForPerson } from "@coffer/tokens";
import type { Deps } from "../deps.ts";

/** A machine that may act, as auth-sm says. */
export interface Machine {
  kind: "machine";
  clientId: string;
  orgId: string;
  applicationId: string | null;
  /** The organization chosen by `X-Coffer-Org`; undefined without one. */
  chosenOrgId: string | undefined;
}

export type Caller = User | Machine;

/**
 * Finds out which person or machine calls. auth-sm, which has the keys of machines, verifies their
 * tokens.
 */
export const authenticateCaller: Authenticate<Caller, Pick<Deps, "users" | "bus">> = (input, { users, bus }) => {
  const token = bearerToken(input.authorization);
  return isForPerson(token) ? users.identify(input) : machineOf(bus, token, input);
};

async function machineOf(bus: Deps["bus"], token: string, { request, headers }: AuthInput): Promise<Machine> {
  const { id, method, route, ip, userAgent: user_agent, time } = request;
  const found = await bus.request(identifyMachine, { token, request: { id, method, route, ip, user_agent, time } });
  return {
    kind: "machine",
    clientId: found.client_id,
    orgId: found.org_id,
    applicationId: found.application_id,
    chosenOrgId: chosenOrg(headers["x-coffer-org"]),
  };
}
