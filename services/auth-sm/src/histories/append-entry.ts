import { ServiceError } from "@coffer/errors";
import { cutName, type HistoryState, type Resource, type SignerId } from "@coffer/history";
import type { Transaction } from "@coffer/postgres";
import { type ExpectedChange, nextState } from "@coffer/service";
import { findCut, findHistory, hasHistory, hasHolder, storeEntry } from "../store/histories.ts";
import { orgRes } from "./resources.ts";

/** The entry of a request, and its required content. */
export interface AppendedEntry {
  /** An organization, or a folder of it. The transaction has locked its members and machines. */
  res: Resource;
  orgId: string;
  /** The entry of the request; undefined if it has none. */
  entry: string | undefined;
  /** The required signer. */
  by: SignerId;
  /** Whether the entry may start the history, by creation or adoption. */
  founds?: boolean;
  /**
   * The change that the entry must sign after the current state (null: no history yet); null when
   * there is nothing to sign.
   */
  expected: (before: HistoryState | null) => ExpectedChange | null;
  /** Whether the change may come without an entry. */
  optional?: (before: HistoryState) => boolean;
}

/**
 * Checks an entry against the change that it comes with, and stores it. This is the only way into a
 * history. The signer of a folder's entry must be in the organization's history now; clients check
 * up to which entry former members count.
 * @returns the state after the entry; null without a history
 * @throws ServiceError like `nextState`
 */
export async function appendEntry(tx: Transaction, appended: AppendedEntry): Promise<HistoryState | null> {
  const { res, orgId, entry, by, founds = false, expected, optional } = appended;
  const before = await findHistory(tx, res);
  if (entry !== undefined && before === null && founds) await requireOrgHistory(tx, { res, orgId });
  const after = await nextState({
    ...{ res, before, entry, by, founds },
    expected: expected(before),
    optional: before !== null && optional?.(before) === true,
  });
  if (after === null || entry === undefined) return before;
  if (res !== orgRes(orgId)) await requireCounted(tx, orgId, after);
  await storeEntry(tx, { orgId, state: after, entry });
  return after;
}

/** Refuses to start a folder's history in an organization without one. */
async function requireOrgHistory(tx: Transaction, { res, orgId }: { res: Resource; orgId: string }): Promise<void> {
  if (res === orgRes(orgId) || (await hasHistory(tx, orgRes(orgId)))) return;
  throw refused("the organization has no history: it must be adopted first");
}

/**
 * Refuses a folder entry that clients would reject: its signer, or the creator of the invitation
 * behind a join, is not in the organization's history with this key, or returned and was not set
 * again. One such entry would make the folder unusable.
 */
async function requireCounted(tx: Transaction, orgId: string, { res, signers, head }: HistoryState): Promise<void> {
  const signer = signers.find(({ seq }) => seq === head.seq);
  if (signer === undefined) throw new TypeError("the newest entry of a folder counts on no one");
  if (!(await hasHolder(tx, orgRes(orgId), signer)))
    throw refused(`the entry counts on ${signer.who}, who is not in the organization's history with this key`);
  const cut = await findCut(tx, orgRes(orgId), signer, await cutName(res));
  if (cut !== null && signer.since <= cut)
    throw refused(`the entry counts on ${signer.who}, who came back: another manager must set that person first`);
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", message, { details: [{ field: "entry", issue: message }] });
}
