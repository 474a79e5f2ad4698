import type { Head, HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import { understoodHistory } from "../histories/history-failure.ts";
import { hashBefore } from "../histories/walk.ts";

/** An entry that this device or another one has verified, and that a history does not have. */
export interface GoesBack {
  /** The number of that entry. */
  seen: number;
  /** The number of the newest entry that the service shows. */
  shown: number;
}

/**
 * Compares a history that the service shows with what is known of it here. A removal that it lacks
 * shows in no fingerprint: an earlier signer has the same key.
 */
export async function goesBack(
  { known, read }: Pick<Histories, "known" | "read">,
  { res, head }: HistoryState,
): Promise<GoesBack | undefined> {
  const there = await known(res);
  if (there === undefined) return undefined;
  const isIn = async ({ seq, hash }: Head): Promise<boolean> => {
    if (seq >= head.seq) return seq === head.seq && hash === head.hash;
    return (await understoodHistory(hashBefore(read, res, seq, head))) === hash;
  };
  for (const seen of [there.pin, ...(there.expect ?? [])])
    if (!(await isIn(seen).catch(notForked))) return { seen: seen.seq, shown: head.seq };
  return undefined;
}

function notForked(error: unknown): false {
  if (error instanceof CofferError && error.code === "history_forked") return false;
  throw error;
}
