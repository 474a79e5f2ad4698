import type { HolderId, Resource } from "./claims.ts";

/**
 * What can be wrong with a history. The set is closed: programs switch on it.
 *
 * - `history_invalid`: an entry is malformed, is not the next one, or was signed by a key that may
 *   not sign it.
 * - `signer_removed`: an entry counts on a person who is not in the organization any more, beyond
 *   the point up to which the organization says that the person's signatures count.
 * - `history_rolled_back`: the history is shorter than it is known to be.
 * - `history_forked`: the history is another one than the one that is known.
 * - `join_invalid`: an invitation does not fit the token, so no join can be signed with it.
 */
export type HistoryErrorCode =
  "history_invalid" | "signer_removed" | "history_rolled_back" | "history_forked" | "join_invalid";

/**
 * The only error of this package. `message` is for a person; it quotes ids and numbers, never keys
 * or claims.
 */
export class HistoryError extends Error {
  readonly code: HistoryErrorCode;
  readonly res: Resource | undefined;
  /** The number of the invalid entry, if there is one. */
  readonly seq: number | undefined;
  /** The person whose `cut` contradicts the history, if that is the error. */
  readonly cutOf: HolderId | undefined;

  constructor(code: HistoryErrorCode, message: string, at: { res?: Resource; seq?: number; cutOf?: HolderId } = {}) {
    super(message);
    this.name = "HistoryError";
    this.code = code;
    this.res = at.res;
    this.seq = at.seq;
    this.cutOf = at.cutOf;
  }
}
