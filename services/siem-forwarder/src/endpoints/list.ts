import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { requireSiemReader } from "../access.ts";
import type { Deps } from "../deps.ts";
import { listEndpointRows } from "../store/endpoints.ts";
import type { EndpointView } from "./view.ts";
import { viewOf } from "./view.ts";

/** GET /api/org/siem/webhooks */
export async function listEndpoints(deps: Deps, { caller }: Call<User>): Promise<{ data: EndpointView[] }> {
  const orgId = await requireSiemReader(deps, caller);
  return { data: (await listEndpointRows(deps.database.pool, orgId)).map(viewOf) };
}
