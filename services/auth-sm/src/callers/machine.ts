import { type Authenticate, bearerToken } from "@coffer/http";
import { requireClient } from "../access/client.ts";
import type { Deps } from "../deps.ts";
import type { CallingClient } from "../store/secrets/secret-reads.ts";
import { recordRejectedToken } from "./rejected-token.ts";

/**
 * A machine whose token signature is valid. Each operation's statement checks the client's state
 * (revoked, expired, address).
 */
export interface Machine {
  kind: "machine";
  clientId: string;
  /** The source address of the request, which the client's `allowed_cidrs` may restrict. */
  ip: string;
  /** Stores when the client was last used. Call it once the client is known to be active. */
  noteUse(): void;
}

/** Identifies the calling machine by its self-signed token. */
export const authenticateMachine: Authenticate<Machine, Deps> = async ({ authorization, request }, deps) => {
  const token = bearerToken(authorization);
  let clientId: string;
  try {
    ({ clientId } = await deps.verifyMachine(token));
  } catch (error) {
    await recordRejectedToken(deps, request, error);
    throw error;
  }
  const noteUse = (): void => deps.activity.seen(clientId, request.ip, deps.now());
  const caller: Machine = { kind: "machine", clientId, ip: request.ip, noteUse };
  return { caller, confirm: () => requireClient(deps.database.pool, deps, caller) };
};

export function callingClientOf(deps: Deps, caller: Machine): CallingClient {
  return { clientId: caller.clientId, ip: caller.ip, now: deps.now() };
}
