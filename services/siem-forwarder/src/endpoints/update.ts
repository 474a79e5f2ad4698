import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { auditOf, userActor } from "@coffer/service";
import { requireSiemManager } from "../access.ts";
import { inChain } from "../audit/in-chain.ts";
import type { Deps } from "../deps.ts";
import { checkEndpointUrl } from "../outgoing/endpoint-url.ts";
import { findEndpointRow, lockEndpointRow, updateEndpoint } from "../store/endpoints.ts";
import type { EndpointChange, EndpointPath } from "./bodies.ts";
import { checkedCredentials } from "./checked-credentials.ts";
import { endpointNotFound } from "./not-found.ts";
import { sealCredentials } from "./seal-credentials.ts";
import type { EndpointView } from "./view.ts";
import { viewOf } from "./view.ts";

/** PATCH /api/org/siem/webhooks/{id} */
export async function changeEndpoint(
  deps: Deps,
  { caller, params: { id }, body, request }: Call<User, EndpointPath, EndpointChange>,
): Promise<EndpointView> {
  const orgId = await requireSiemManager(deps, caller);
  const found = await findEndpointRow(deps.database.pool, orgId, id);
  if (found === null) throw endpointNotFound();
  // The format of an endpoint never changes.
  const { format } = found;
  const { name, enabled } = body;
  const url =
    body.url === undefined
      ? undefined
      : await checkEndpointUrl(deps.destinations, { text: body.url, format, field: "url" });
  const credentials =
    body.credentials === undefined
      ? undefined
      : sealCredentials(deps, id, await checkedCredentials(deps, format, body.credentials));
  const changes = Object.fromEntries(
    Object.entries({ name, url, enabled }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const record = auditOf(deps, request, {
    org_id: orgId,
    action: "siem.webhook.updated",
    actor: userActor(caller),
    target: { type: "siem_webhook", id },
    status: 200,
    changes: { ...changes, ...(credentials === undefined ? {} : { credentials: "replaced" }) },
  });
  const row = await inChain(deps, orgId, async ({ tx, append }) => {
    const present = await lockEndpointRow(tx, orgId, id);
    if (present === null) throw endpointNotFound();
    await append(record);
    return updateEndpoint(tx, id, {
      name: name ?? present.name,
      url: url ?? present.url,
      credentials: credentials ?? present.credentials,
      enabled: enabled ?? present.enabled,
      time: request.time,
    });
  });
  return viewOf(row);
}
