import { ServiceError } from "@coffer/errors";
import type { Entry, HistoryState, Resource, SignerId } from "@coffer/history";
import { extend, HistoryError, readEntry } from "@coffer/history";
import type { Transaction } from "@coffer/postgres";
import { findHistory, hasHistory, hasHolder, storeEntry } from "../store/histories.ts";
import type { ExpectedChange } from "./agreement.ts";
import { disagreement } from "./agreement.ts";
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
 * The one way into a history: checks the entry (form, place, signer, signature and what it changes), compares it with the
 * change that it comes with, and stores it. Who signed a folder's entry must be in the organization's history now; up to
 * which entry former members count is for the clients to check.
 *
 * @returns the state after it; null without a history
 * @throws ServiceError `conflict` for an entry that is not the next one, `access_denied` for one that another than `by` has
 *   signed, `invalid_request` for one that is missing, not wanted, not valid, or that says something else
 */
export async function appendEntry(tx: Transaction, appended: AppendedEntry): Promise<HistoryState | null> {
  const { res, orgId, entry: text, by, founds = false, expected } = appended;
  const before = await findHistory(tx, res);
  const change = expected(before);
  if (text === undefined) {
    if (before === null || change === null) return before;
    throw refused(`${nounOf(res)} has a history: this change needs \`entry\`, the signed next entry`);
  }
  if (before === null) await requireFounding(tx, { res, orgId, founds });
  const entry = await readable(text);
  requireNext(before, res, entry);
  if (entry.claims.by !== by)
    throw new ServiceError("access_denied", "the entry was signed by another than its sender");
  if (change === null) throw refused("this request changes nothing that an entry could sign: send it without `entry`");
  const differs = disagreement(entry.claims, change);
  if (differs !== null) throw refused(`the entry does not agree with the request: ${differs}`);
  const after = await valid(extend(before, res, text));
  if (res !== orgRes(orgId)) await requireCounted(tx, orgId, after);
  await storeEntry(tx, { orgId, state: after, entry: text });
  return after;
}

/** Whether the history may begin here, with this entry. */
async function requireFounding(
  tx: Transaction,
  { res, orgId, founds }: { res: Resource; orgId: string; founds: boolean },
): Promise<void> {
  if (!founds) throw refused(`${nounOf(res)} has no history: send the change without \`entry\`, or adopt it first`);
  if (res !== orgRes(orgId) && !(await hasHistory(tx, orgRes(orgId))))
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

/** @throws ServiceError `conflict` for an entry that belongs somewhere else in the history */
function requireNext(before: HistoryState | null, res: Resource, { claims }: Entry): void {
  if (claims.res !== res) throw refused(`the entry is about another resource than ${res}`);
  const [seq, prev] = before === null ? [0, null] : [before.head.seq + 1, before.head.hash];
  if (claims.seq === seq && claims.prev === prev) return;
  const newest = before === null ? "there is none yet" : `the newest has number ${before.head.seq}`;
  throw new ServiceError("conflict", `the entry is not the next one of the history: ${newest}; read it and sign again`);
}

async function readable(text: string): Promise<Entry> {
  return valid(readEntry(text));
}

/** What a check of the history finds wrong, in the words of the interface. */
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
  return res.startsWith("org:") ? "the organization" : "the folder";
}
