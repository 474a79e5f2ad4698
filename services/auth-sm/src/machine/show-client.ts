import type { Call } from "@coffer/http";
import { requireClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { listClientFolders } from "../store/client-folders.ts";
import { findClientIdentity } from "../store/clients.ts";

/** A machine as it sees itself. */
export interface ClientIdentity {
  client_id: string;
  application_id: string | null;
  org_id: string;
  name: string;
  expires_at: string | null;
  folders: { id: string; name: string; permission: "read" | "write" }[];
}

/** GET /api/sm/v1/client */
export async function showClient(deps: Deps, { caller }: Call<Machine>): Promise<ClientIdentity> {
  await requireClient(deps.database.pool, deps, caller);
  const identity = await findClientIdentity(deps.database.pool, caller.clientId);
  const folders = await listClientFolders(deps.database.pool, caller.clientId);
  return { ...identity, folders: folders.map(({ id, name, permission }) => ({ id, name, permission })) };
}
