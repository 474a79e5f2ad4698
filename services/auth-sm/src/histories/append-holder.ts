import type { Holder, HistoryState, Resource } from "@coffer/history";
import { holderOf } from "@coffer/history";
import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { fits } from "@coffer/service";
import { appendEntry } from "./append-entry.ts";

/** A holder whom a request gives a folder, or confirms. */
export interface AppendedHolder {
  res: Resource;
  orgId: string;
  entry: string | undefined;
  /** The id of the person who sends the request. */
  signerId: string;
  /** As the server has the holder from this request on. */
  holder: Holder;
  /** Whether the holder had a grant before this request. */
  wasGranted: boolean;
  actor: Actor;
  request: RequestContext;
}

/**
 * Appends the `set` of one holder of a folder. A holder whom the newest state has in the same way needs no entry, so that any
 * manager can seal a missing key. A `set` of a holder whom the server listed and the history did not have is a confirmation,
 * which is put on record.
 * @throws ServiceError what `appendEntry` throws
 */
export async function appendHolder(tx: Transaction, deps: Deps, appended: AppendedHolder): Promise<void> {
  const { res, orgId, entry, signerId, holder, wasGranted, actor, request } = appended;
  const known: { holder?: Holder | undefined } = {};
  const expected = (before: HistoryState | null) => {
    known.holder = before === null ? undefined : holderOf(before, holder.who);
    return known.holder !== undefined && fits(holder, known.holder) ? null : { set: [holder] };
  };
  await appendEntry(tx, { res, orgId, entry, by: `user:${signerId}`, expected });
  if (entry === undefined || known.holder !== undefined || !wasGranted) return;
  const [type = "", id = ""] = holder.who.split(":");
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      org_id: orgId,
      action: "history.trusted",
      actor,
      target: { type, id, parent_id: res.slice("folder:".length) },
      status: 200,
      changes: { permission: holder.perm },
    }),
  );
}
