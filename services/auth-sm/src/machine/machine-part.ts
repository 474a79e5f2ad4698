import type { Call } from "@coffer/http";
import { auditOf } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { ListPart } from "../secrets/answer-list.ts";
import { listedSecret } from "../secrets/view.ts";
import type { ListedSecret, Part } from "../store/secret-parts.ts";
import type { AskingClient } from "../store/secret-scopes.ts";
import { askingClient } from "./asking-client.ts";

/**
 * A part of a list for the machine that asked for it, of one folder or of all that it may see.
 * @throws ServiceError when it may not have it.
 */
export function machinePart<Row extends ListedSecret>(
  deps: Deps,
  { caller, query, request }: Call<Machine, unknown, undefined, { folder_id?: string | undefined }>,
  action: "secret.listed" | "secret.searched",
  part: Part<AskingClient, Row>,
): ListPart<Row> & { orgId: string } {
  const { orgId, actor } = askingClient(caller, part.caller);
  const target = query.folder_id === undefined ? { type: "org", id: orgId } : { type: "folder", id: query.folder_id };
  return {
    orgId,
    rows: part.rows,
    more: part.more,
    view: listedSecret,
    record: (count, reason) =>
      deps.audit(
        auditOf(deps, request, { org_id: orgId, action, actor, target, status: 200, count, ...(reason && { reason }) }),
      ),
  };
}
