import { ServiceError } from "@coffer/errors";
import {
  type Entry,
  extend,
  HistoryError,
  type HistoryState,
  readEntry,
  type Resource,
  type SignerId,
} from "@coffer/history";
import { disagreement, type ExpectedChange } from "./expected-change.ts";

/** The entry of a request, and what it must contain. */
export interface SentEntry {
  res: Resource;
  /** The newest state; null without a history. */
  before: HistoryState | null;
  /** As sent; undefined if the request has none. */
  entry: string | undefined;
  /** The required signer. */
  by: SignerId;
  /** Whether the entry may make the history: by creation, or by adoption. */
  founds?: boolean;
  /** The change that must be signed; null if there is none. */
  expected: ExpectedChange | null;
  /** Whether the entry may be omitted. */
  optional?: boolean;
}

/**
 * Checks the entry of a request: form, position, signer, signature, and that it agrees with the
 * request. Clients check whether the signer is still a member of the organization.
 *
 * @returns the state after the entry, to be stored with it; null if the request has no entry and
 *   needs none
 * @throws ServiceError `conflict` if the entry is not the next one, `access_denied` if `by` did not
 *   sign it, `invalid_request` if it is missing, unexpected, invalid or disagrees with the request
 */
export async function nextState(sent: SentEntry): Promise<HistoryState | null> {
  const { res, before, entry: text, by, founds = false, expected, optional = false } = sent;
  if (text === undefined) {
    if (before === null || expected === null || optional) return null;
    throw refused(`${nounOf(res)} has a history: this change needs \`entry\`, the signed next entry`);
  }
  if (before === null && !founds)
    throw refused(`${nounOf(res)} has no history: send the change without \`entry\`, or adopt it first`);
  const entry = await valid(readEntry(text));
  requireNext(before, res, entry);
  if (entry.claims.by !== by) throw new ServiceError("access_denied", "the entry was not signed by its sender");
  if (expected === null)
    throw refused("this request changes nothing that an entry could sign: send it without `entry`");
  const differs = disagreement(entry.claims, expected);
  if (differs !== null) throw refused(`the entry does not agree with the request: ${differs}`);
  return valid(extend(before, res, text));
}

/** @throws ServiceError `conflict` for an entry at another position in the history */
function requireNext(before: HistoryState | null, res: Resource, { claims }: Entry): void {
  if (claims.res !== res) throw refused(`the entry is about another resource than ${res}`);
  const [seq, prev] = before === null ? [0, null] : [before.head.seq + 1, before.head.hash];
  if (claims.seq === seq && claims.prev === prev) return;
  const newest = before === null ? "there is none yet" : `the newest has number ${before.head.seq}`;
  throw new ServiceError("conflict", `the entry is not the next one of the history: ${newest}; read it and sign again`);
}

/** Maps a HistoryError to `invalid_request`. */
async function valid<T>(checked: Promise<T>): Promise<T> {
  try {
    return await checked;
  } catch (error) {
    if (error instanceof HistoryError) throw refused(error.message);
    throw error;
  }
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", message, { details: [{ field: "entry", issue: message }] });
}

function nounOf(res: Resource): string {
  if (res.startsWith("org:")) return "the organization";
  return res.startsWith("folder:") ? "the folder" : "the vault";
}
