import type { Call } from "@coffer/http";
import { requireSeenClient } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";

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
  const client = await requireSeenClient(deps, caller);
  return {
    client_id: caller.clientId,
    application_id: client.application_id,
    org_id: client.org_id,
    name: client.client_name,
    expires_at: client.expires_at,
    folders: client.folders.map(({ id, name, permission }) => ({ id, name, permission })),
  };
}
