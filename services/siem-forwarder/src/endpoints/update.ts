import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import { userActor } from "@coffer/service";
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
  { caller, params: { id }, body, request, audit }: AuditedCall<User, EndpointPath, EndpointChange>,
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
  const record = audit({
    orgId,
    actor: userActor(caller),
    changes: { ...changes, ...(credentials === undefined ? {} : { credentials: "replaced" }) },
  });
  const row = await inChain(deps, orgId, async ({ tx, append }) => {
    const present = await lockEndpointRow(tx, orgId, id);
    if (present === null) throw endpointNotFound();
    // Under the lock: a concurrent change may have replaced the address or the credentials.
    if (url !== undefined && credentials === undefined && originOf(url) !== originOf(present.url))
      throw credentialsNeeded();
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

/**
 * Scheme, host and port: stored credentials are sent to no other origin than the one that they were
 * given for.
 */
function originOf(url: string): string {
  return new URL(url).origin;
}

function credentialsNeeded(): ServiceError {
  const issue = "must be sent again, all of them, with a url of another scheme, host or port";
  const message = "the url has another scheme, host or port: send all credentials of the endpoint in the same request";
  return new ServiceError("invalid_request", message, { details: [{ field: "credentials", issue }] });
}
