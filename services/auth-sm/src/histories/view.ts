import type { HistoryState } from "@coffer/history";

/** The position of an entry that was just stored. */
export interface StoredEntry {
  history_seq: number;
  hash: string;
}

/** @throws TypeError without a state: a stored entry always makes one */
export function storedEntry(state: HistoryState | null): StoredEntry {
  if (state === null) throw new TypeError("an entry was appended, but there is no state");
  return { history_seq: state.head.seq, hash: state.head.hash };
}
