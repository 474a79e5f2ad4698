import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { type ClientState, findClientState } from "../store/machines/clients.ts";

/**
 * The client of a machine. It exists, is neither revoked nor expired, and calls from an allowed
 * address.
 */
export interface ActiveClient<State extends ClientState = ClientState> {
  orgId: string;
  actor: Actor;
  client: State;
}

/**
 * @throws ServiceError `invalid_token` when the client is unknown, revoked or expired;
 * `access_denied` when the client may not call from this address
 */
export async function requireClient(db: Queryable, deps: Deps, caller: Machine): Promise<ActiveClient> {
  const state = await findClientState(db, { clientId: caller.clientId, ip: caller.ip, now: deps.now() });
  return activeClient(caller, state);
}

/** Checks a client state that the caller's own statement has read. Throws like `requireClient`. */
export function activeClient<State extends ClientState>(caller: Machine, state: State | null): ActiveClient<State> {
  if (state === null || state.revoked || state.expired) {
    throw new ServiceError("invalid_token", "the token is not valid: its client is unknown, revoked or expired");
  }
  if (!state.address_allowed) {
    throw new ServiceError("access_denied", "this client may not be used from this address");
  }
  caller.noteUse();
  return { orgId: state.org_id, actor: machineActor(caller, state.application_id), client: state };
}

function machineActor(caller: Machine, applicationId: string | null): Actor {
  return { type: "client", id: caller.clientId, ...(applicationId === null ? {} : { application_id: applicationId }) };
}
