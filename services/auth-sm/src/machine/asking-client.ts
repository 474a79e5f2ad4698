import { ServiceError } from "@coffer/errors";
import type { ActiveClient } from "../access/client.ts";
import { activeClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import type { ClientState } from "../store/clients.ts";

/**
 * The calling machine's client, which was granted the folder that it names if it names one.
 * @throws ServiceError `access_denied` when it was not, wherever that folder is, and what `activeClient` throws.
 */
export function askingClient<State extends ClientState & { folder_granted: boolean }>(
  caller: Machine,
  state: State | null,
): ActiveClient<State> {
  const active = activeClient(caller, state);
  if (!active.client.folder_granted) {
    throw new ServiceError("access_denied", "this client has no access to the folder");
  }
  return active;
}
