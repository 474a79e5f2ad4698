import type { HistoryState, Resource } from "@coffer/history";
import type { Transaction } from "@coffer/postgres";
import { type ExpectedChange, nextState, type User } from "@coffer/service";
import { findHistory, storeEntry } from "../store/histories.ts";

/** The resource name of a vault in entries. */
export const vaultRes = (vaultId: string): Resource => `vault:${vaultId}`;

/** An entry that came with a change of a vault, which the transaction has locked exclusively. */
export interface VaultEntry {
  caller: Pick<User, "userId">;
  vaultId: string;
  /** As sent; undefined if the request has none. */
  entry: string | undefined;
  /** Whether the entry may begin the history. */
  founds?: boolean;
  /** The change that must be signed (`before` null: no history yet); null if there is none. */
  expected: (before: HistoryState | null) => ExpectedChange | null;
  /** Whether the entry may be omitted. */
  optional?: (before: HistoryState) => boolean;
}

/**
 * Checks the entry of a change and stores it. No other code writes a vault's history.
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
