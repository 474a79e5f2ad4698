import { verifyEs256 } from "@coffer/crypto";
import { apply } from "./apply.ts";
import type { Resource } from "./claims.ts";
import { HistoryError } from "./history-error.ts";
import { readEntry } from "./read-entry.ts";
import type { HistoryState } from "./state.ts";

/**
 * Checks one entry and applies it: its form, its position, its signer's right, its signature and
 * its changes.
 * @param before the state before it; null for entry 0
 * @param res the history that it must belong to
 * @param text the compact JWS
 * @returns the state after it
 * @throws HistoryError `history_invalid`
 */
export async function extend(before: HistoryState | null, res: Resource, text: string): Promise<HistoryState> {
  return (await extendAll(before, res, [text])).state;
}

/** The result of a sequence of entries. */
export interface Extended {
  state: HistoryState;
  /** The hash of each entry, in order. */
  hashes: string[];
}

/**
 * Checks consecutive entries and applies them. With several invalid entries, the error is about the
 * first.
 * @param texts at least one
 * @throws HistoryError `history_invalid`
 */
export async function extendAll(
  before: HistoryState | null,
  res: Resource,
  texts: readonly string[],
): Promise<Extended> {
  let state = before;
  const hashes: string[] = [];
  const verified: Promise<void>[] = [];
  // Signatures are verified concurrently. An invalid one takes precedence over problems of later
  // entries.
  try {
    for (const text of texts) {
      const entry = await readAt(text, res, (state?.head.seq ?? -1) + 1);
      const applied = apply(state, entry);
      const verification = requireSignature(applied.signedWith, entry, applied.state);
      // The promise may reject before it is awaited; without a handler that would end the process.
      verification.catch(() => undefined);
      verified.push(verification);
      state = applied.state;
      hashes.push(entry.hash);
    }
  } catch (error) {
    await firstFailure(verified);
    throw error;
  }
  await firstFailure(verified);
  if (state === null || texts.length === 0) throw new HistoryError("history_invalid", "there is no entry", { res });
  return { state, hashes };
}

async function readAt(text: string, res: Resource, seq: number): ReturnType<typeof readEntry> {
  try {
    const entry = await readEntry(text);
    if (entry.claims.res === res) return entry;
    throw new HistoryError("history_invalid", `an entry of ${res} belongs to another history`);
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    throw new HistoryError(error.code, `entry ${seq} of the history of ${res}: ${error.message}`, { res, seq });
  }
}

async function requireSignature(
  key: string,
  { signed, signature }: Awaited<ReturnType<typeof readEntry>>,
  { res, head: { seq } }: HistoryState,
): Promise<void> {
  if (await verifyEs256(key, signed, signature)) return;
  throw new HistoryError(
    "history_invalid",
    `entry ${seq} of the history of ${res} was not signed with the key of its signer`,
    { res, seq },
  );
}

/** Awaits all and throws the error of the first that failed. */
async function firstFailure(verified: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(verified);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
