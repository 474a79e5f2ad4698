import type { Call } from "@coffer/http";
import { readableBatch } from "../access/machine-reads.ts";
import { auditOf } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { ListBatch } from "../secrets/answer-list.ts";
import { listedSecret } from "../secrets/view.ts";
import type { ListedSecret, Batch } from "../store/secret-batches.ts";
import type { ScopedClient } from "../store/secret-scopes.ts";

/**
 * Authorizes one batch of a machine's list, of one folder or of all that it may see.
 * @throws ServiceError when the machine may not have it
 */
export function machineBatch<Row extends ListedSecret>(
  deps: Deps,
  { caller, query, request }: Call<Machine, unknown, undefined, { folder_id?: string | undefined }>,
  action: "secret.listed" | "secret.searched",
  part: Batch<ScopedClient, Row>,
): ListBatch<Row> & { orgId: string } {
  const { orgId, actor, rows } = readableBatch(caller, part);
  const target = query.folder_id === undefined ? { type: "org", id: orgId } : { type: "folder", id: query.folder_id };
  return {
    orgId,
    rows,
    more: part.more,
    view: listedSecret,
    record: (count, reason) =>
      deps.audit(
        auditOf(deps, request, { org_id: orgId, action, actor, target, status: 200, count, ...(reason && { reason }) }),
      ),
  };
}
