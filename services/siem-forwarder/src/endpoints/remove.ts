import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import { userActor } from "@coffer/service";
import { requireSiemManager } from "../access.ts";
import { inChain } from "../audit/in-chain.ts";
import type { Deps } from "../deps.ts";
import { deleteEndpoint } from "../store/endpoints.ts";
import type { EndpointPath } from "./bodies.ts";
import { endpointNotFound } from "./not-found.ts";

/** DELETE /api/org/siem/webhooks/{id} */
export async function removeEndpoint(
  deps: Deps,
  { caller, params: { id }, audit }: AuditedCall<User, EndpointPath>,
): Promise<void> {
  const orgId = await requireSiemManager(deps, caller);
  const record = audit({ orgId, actor: userActor(caller) });
  await inChain(deps, orgId, async ({ tx, append }) => {
    if (!(await deleteEndpoint(tx, orgId, id))) throw endpointNotFound();
    await append(record);
  });
}
