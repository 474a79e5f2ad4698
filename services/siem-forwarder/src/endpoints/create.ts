import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import { userActor } from "@coffer/service";
import { requireSiemManager } from "../access.ts";
import { inChain } from "../audit/in-chain.ts";
import type { Deps } from "../deps.ts";
import { checkEndpointUrl } from "../outgoing/endpoint-url.ts";
import { countEndpoints, insertEndpoint } from "../store/endpoints.ts";
import type { NewEndpoint } from "./bodies.ts";
import { checkedCredentials } from "./checked-credentials.ts";
import { sealCredentials } from "./seal-credentials.ts";
import { viewOf } from "./view.ts";
import type { EndpointView } from "./view.ts";

/** As many endpoints as an organization may have. */
const mostEndpoints = 10;

/** POST /api/org/siem/webhooks */
export async function createEndpoint(
  deps: Deps,
  { caller, body, request, audit }: AuditedCall<User, unknown, NewEndpoint>,
): Promise<EndpointView> {
  const orgId = await requireSiemManager(deps, caller);
  const { format, name = null, enabled = true } = body;
  const url = await checkEndpointUrl(deps.destinations, { text: body.url, format, field: "url" });
  const id = deps.newId();
  const credentials = sealCredentials(deps, id, await checkedCredentials(deps, format, body.credentials));
  const record = audit({ orgId, actor: userActor(caller), target: { id }, changes: { name, format, url, enabled } });
  const row = await inChain(deps, orgId, async ({ tx, append }) => {
    // The lock of the chain: of two creations at the same time one counts the other.
    if ((await countEndpoints(tx, orgId)) >= mostEndpoints)
      throw new ServiceError(
        "conflict",
        `an organization has at most ${mostEndpoints} SIEM endpoints: delete one first`,
      );
    const position = await append(record);
    return insertEndpoint(tx, { id, orgId, name, format, url, credentials, enabled, time: request.time, position });
  });
  return viewOf(row);
}
