import type { RequestContext } from "@coffer/http";
import type { ActiveClient } from "../access/client.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";

/** Records how many secrets a machine was handed at once, of one folder or of all that it may see. */
export function auditListing(
  deps: Deps,
  { request, query }: { request: RequestContext; query: { folder_id?: string | undefined } },
  client: ActiveClient,
  action: "secret.listed" | "secret.searched",
  count: number,
): Promise<void> {
  const target =
    query.folder_id === undefined ? { type: "org", id: client.orgId } : { type: "folder", id: query.folder_id };
  return deps.audit(
    auditOf(deps, request, { org_id: client.orgId, action, actor: client.actor, target, status: 200, count }),
  );
}
