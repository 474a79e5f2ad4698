import { ServiceError } from "@coffer/errors";
import { activeClient, type ActiveClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import type { ClientState } from "../store/clients.ts";

/**
 * The client of a machine that has a grant on the folder that the request names, if it names one.
 * @throws ServiceError `access_denied` without the grant, whether or not the folder exists, and
 * what `activeClient` throws
 */
export function clientInScope<State extends ClientState & { folder_granted: boolean }>(
  caller: Machine,
  state: State | null,
): ActiveClient<State> {
  const active = activeClient(caller, state);
  if (!active.client.folder_granted) {
    throw new ServiceError("access_denied", "this client has no access to the folder");
  }
  return active;
}
