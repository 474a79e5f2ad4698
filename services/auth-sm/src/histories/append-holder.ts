import { type HistoryState, type Holder, holderOf, type Resource } from "@coffer/history";
import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { fits } from "@coffer/service";
import { appendEntry } from "./append-entry.ts";

/** A member or machine to which a request grants a folder, or which it confirms. */
export interface AppendedHolder {
  res: Resource;
  orgId: string;
  entry: string | undefined;
  /** The id of the person who sends the request. */
  signerId: string;
  /** The state of the grant from this request on. */
  holder: Holder;
  /** Whether there was a grant before this request. */
  wasGranted: boolean;
  actor: Actor;
  request: RequestContext;
}

/**
 * Appends the `set` of one member or machine of a folder. No entry is needed if the newest state
 * already has the same holder, so that any manager can add a missing key. A person who returned to
 * the organization always needs an entry. A `set` for an existing grant that the history does
 * not have is a confirmation, and is audited.
 * @throws ServiceError what `appendEntry` throws
 */
export async function appendHolder(tx: Transaction, deps: Deps, appended: AppendedHolder): Promise<void> {
  const { res, orgId, entry, signerId, holder, wasGranted, actor, request } = appended;
  const known: { holder?: Holder | undefined } = {};
  const expected = (before: HistoryState | null) => {
    known.holder = before === null ? undefined : holderOf(before, holder.who);
    return { set: [holder] };
  };
  const optional = (before: HistoryState): boolean => {
    const present = holderOf(before, holder.who);
    return present !== undefined && fits(holder, present);
  };
  await appendEntry(tx, { res, orgId, entry, by: `user:${signerId}`, expected, optional });
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
