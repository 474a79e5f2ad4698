import type { Authenticate } from "@coffer/http";
import { bearerToken } from "@coffer/http";
import { requireClient } from "../access/client.ts";
import type { Deps } from "../deps.ts";
import type { Asker } from "../store/secret-reads.ts";
import { recordRejectedToken } from "./rejected-token.ts";

/** A machine whose token is genuine. Its state (revoked, expired, address) is checked by each operation's statement. */
export interface Machine {
  kind: "machine";
  clientId: string;
  /** The source address of the request, which the client's `allowed_cidrs` may bind. */
  ip: string;
  /** Notes that it was here: for whoever has found that its client may act. */
  noteUse(): void;
}

/** Finds out which machine calls, by the token that it signed itself. */
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

/** The caller as the prepared statements need it. */
export function askerOf(deps: Deps, caller: Machine): Asker {
  return { clientId: caller.clientId, ip: caller.ip, now: deps.now() };
}
