import { ServiceError } from "@coffer/errors";
import type { HistoryState, Resource, SignerId } from "@coffer/history";
import type { Transaction } from "@coffer/postgres";
import type { ExpectedChange } from "@coffer/service";
import { nextState } from "@coffer/service";
import { findHistory, hasHistory, hasHolder, storeEntry } from "../store/histories.ts";
import { orgRes } from "./resources.ts";

/** An entry that came with a request, and what it must say. */
export interface AppendedEntry {
  /** An organization, or a folder of it, which the transaction has locked against every other change of its holders. */
  res: Resource;
  orgId: string;
  /** As it was sent; undefined when the request has none. */
  entry: string | undefined;
  /** Who must have signed it. */
  by: SignerId;
  /** Whether the entry may make the history: by creation, or by adoption. */
  founds?: boolean;
  /** What must be signed after the present state (null: no history yet); null when there is nothing to sign. */
  expected: (before: HistoryState | null) => ExpectedChange | null;
}

/**
 * The one way into a history: checks the entry, compares it with the change that it comes with, and stores it. Who signed a
 * folder's entry must be in the organization's history now; up to which entry former members count is for the clients to
 * check.
 *
 * @returns the state after it; null without a history
 * @throws ServiceError as `nextState`
 */
export async function appendEntry(tx: Transaction, appended: AppendedEntry): Promise<HistoryState | null> {
  const { res, orgId, entry, by, founds = false, expected } = appended;
  const before = await findHistory(tx, res);
  if (entry !== undefined && before === null && founds) await requireOrgHistory(tx, { res, orgId });
  const after = await nextState({ res, before, entry, by, founds, expected: expected(before) });
  if (after === null || entry === undefined) return before;
  if (res !== orgRes(orgId)) await requireCounted(tx, orgId, after);
  await storeEntry(tx, { orgId, state: after, entry });
  return after;
}

/** Refuses to begin the history of a folder in an organization that has none. */
async function requireOrgHistory(tx: Transaction, { res, orgId }: { res: Resource; orgId: string }): Promise<void> {
  if (res === orgRes(orgId) || (await hasHistory(tx, orgRes(orgId)))) return;
  throw refused("the organization has no history: it must be adopted first");
}

/**
 * Refuses an entry of a folder that clients would not count: the person who signed it, or who made the invitation of a join, is
 * not in the organization's history with the same key. One such entry would make the folder unusable.
 */
async function requireCounted(tx: Transaction, orgId: string, { signers, head }: HistoryState): Promise<void> {
  const signer = signers.find(({ seq }) => seq === head.seq);
  if (signer === undefined) throw new TypeError("the newest entry of a folder counts on nobody");
  if (await hasHolder(tx, orgRes(orgId), signer)) return;
  throw refused(`the entry counts on ${signer.who}, who is not in the organization's history with this key`);
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", message, { details: [{ field: "entry", issue: message }] });
}
