import type { AuditedCall } from "@coffer/http";
import { readableBatch } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { ListBatch } from "../secrets/answer-list.ts";
import { listedSecret } from "../secrets/view.ts";
import type { ListedSecret, Batch } from "../store/secrets/secret-batches.ts";
import type { ScopedClient } from "../store/secrets/secret-scopes.ts";

/**
 * Authorizes one batch of a machine's list, of one folder or of all that it may see.
 * @throws ServiceError when the machine may not have it
 */
export function machineBatch<Row extends ListedSecret>(
  deps: Deps,
  { caller, audit }: AuditedCall<Machine, unknown, undefined, { folder_id?: string | undefined }>,
  part: Batch<ScopedClient, Row>,
): ListBatch<Row> & { orgId: string } {
  const { orgId, actor, rows } = readableBatch(caller, part);
  return {
    orgId,
    rows,
    more: part.more,
    view: listedSecret,
    record: (count, reason) => deps.audit(audit({ orgId, actor, count, reason })),
  };
}
