import type { HistoryState, Resource } from "@coffer/history";
import type { Transaction } from "@coffer/postgres";
import type { ExpectedChange, User } from "@coffer/service";
import { nextState } from "@coffer/service";
import { findHistory, storeEntry } from "../store/histories.ts";

/** How entries name a vault. */
export const vaultRes = (vaultId: string): Resource => `vault:${vaultId}`;

/** An entry that came with a change of a vault, which the transaction holds alone. */
export interface VaultEntry {
  caller: Pick<User, "userId">;
  vaultId: string;
  /** As it was sent; undefined when the request has none. */
  entry: string | undefined;
  /** Whether it may make the history. */
  founds?: boolean;
  /** What must be signed after the present state (null: no history yet); null when there is nothing to sign. */
  expected: (before: HistoryState | null) => ExpectedChange | null;
  /** Whether the change needs no entry after the present state, although one may come. */
  optional?: (before: HistoryState) => boolean;
}

/**
 * Checks the entry of a change and stores it: the one way into a vault's history.
 *
 * @returns the newest state; null without a history
 * @throws ServiceError as `nextState`
 */
export async function appendEntry(tx: Transaction, appended: VaultEntry): Promise<HistoryState | null> {
  const { caller, vaultId, entry, founds = false, expected, optional } = appended;
  const before = await findHistory(tx, vaultId);
  const after = await nextState({
    res: vaultRes(vaultId),
    before,
    entry,
    by: `user:${caller.userId}`,
    founds,
    expected: expected(before),
    optional: before !== null && optional?.(before) === true,
  });
  if (after === null || entry === undefined) return before;
  await storeEntry(tx, vaultId, after, entry);
  return after;
}
