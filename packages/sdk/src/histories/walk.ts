import { extendAll, HistoryError, holderOf, readEntry } from "@coffer/history";
import type { Claims, Head, HistoryState, HolderId, OpenInvitation, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { ReadEntries } from "./read-entries.ts";
import type { Trusted } from "./trust-storage.ts";

/** What a history says at its newest entry. */
export interface Walked {
  state: HistoryState;
  /** The signer of the entry that made the caller a holder. */
  given: Trusted["given"];
  /** The key with which entry 0 was signed under the caller's name; undefined for another's, or one that was not read. */
  made: string | undefined;
  /** The invitation by which the caller joined; undefined without a join, or when it was not read. */
  joinedBy: OpenInvitation | undefined;
  /** The person on whose word the newest entry counts; undefined when nothing was read that is new. */
  signer: Trusted["given"];
  /** The holders whom the entries that were read have set. */
  set: ReadonlySet<string>;
  /** The hashes of the entries that were read, by their numbers. */
  hashes: ReadonlyMap<number, string>;
}

/**
 * Reads the entries of a history after what is trusted of it, and verifies each. The pinned entry is read once more, so that
 * a fork of the same length shows.
 *
 * @returns null where there is no history, and none is trusted
 * @throws HistoryError `history_invalid`, `history_rolled_back`, `history_forked`; CofferError
 */
export async function walk(
  read: ReadEntries,
  res: Resource,
  self: HolderId,
  before: Trusted | undefined,
): Promise<Walked | null> {
  const pinned = before?.state ?? null;
  const marks = [before?.pin, before?.expect].filter((mark) => mark !== undefined);
  const least = Math.max(-1, ...marks.map(({ seq }) => seq));
  const walked: Taken = {
    state: pinned,
    given: pinned === null ? undefined : before?.given,
    made: undefined,
    joinedBy: undefined,
    signer: undefined,
    set: new Set(),
  };
  const hashes = new Map<number, string>();
  let after = pinned === null || pinned.head.seq === 0 ? undefined : pinned.head.seq - 1;
  let state: HistoryState | null;
  for (let first = true; ; first = false) {
    const { entries, newest } = await read(res, after);
    if (newest === null && before === undefined && first) return null;
    if (newest === null || newest < least) throw rolledBack(res, least, newest);
    if (entries.length === 0) throw hidden(res, newest);
    let fresh: readonly string[] = entries;
    if (first && pinned !== null) {
      fresh = await afterPin(pinned, entries);
      hashes.set(pinned.head.seq, pinned.head.hash);
    }
    await take(walked, res, self, fresh, hashes);
    ({ state } = walked);
    if (state !== null && state.head.seq >= newest) break;
    if (state === null || (fresh.length === 0 && !first)) throw hidden(res, newest);
    after = state.head.seq;
  }
  for (const mark of marks) requireMark(res, hashes, mark);
  return { ...walked, state, hashes };
}

type Taken = Omit<Walked, "state" | "set" | "hashes"> & { state: HistoryState | null; set: Set<string> };

/** Verifies entries and takes them. The last, and those that make the caller a holder, are looked at in the
 * state before them. */
async function take(
  walked: Taken,
  res: Resource,
  self: HolderId,
  texts: readonly string[],
  hashes: Map<number, string>,
): Promise<void> {
  const extend = async (some: readonly string[]): Promise<void> => {
    if (some.length === 0) return;
    const extended = await extendAll(walked.state, res, some);
    const first = extended.state.head.seq - some.length + 1;
    extended.hashes.forEach((hash, index) => hashes.set(first + index, hash));
    walked.state = extended.state;
  };
  let from = 0;
  for (const [index, text] of texts.entries()) {
    const { claims } = await readEntry(text);
    for (const { who } of claims.set ?? []) walked.set.add(who);
    const mine = claims.set?.some(({ who }) => who === self) === true;
    if (!mine && index < texts.length - 1) continue;
    await extend(texts.slice(from, index));
    const signer = giverOf(walked.state, claims);
    const joinedBy = invitationOf(walked.state, claims);
    await extend([text]);
    walked.signer = signer;
    if (mine) walked.given = signer;
    if (mine) walked.joinedBy = joinedBy ?? walked.joinedBy;
    if (mine && claims.seq === 0 && claims.by === self) walked.made = signer?.key;
    from = index + 1;
  }
}

/** The person on whose word an entry counts; of a join the maker of its invitation. */
function giverOf(before: HistoryState | null, { by, set = [] }: Claims): Trusted["given"] {
  if (by.startsWith("invite:")) {
    const invitation = invitationOf(before, { by });
    return invitation === undefined ? undefined : { by: invitation.by, key: invitation.by_key };
  }
  const signer = before === null ? set.find(({ who }) => who === by) : holderOf(before, by);
  return signer === undefined ? undefined : { by: signer.who, key: signer.key };
}

/** The invitation whose join key signed an entry; undefined for an entry that a person signed. */
function invitationOf(before: HistoryState | null, { by }: Pick<Claims, "by">): OpenInvitation | undefined {
  return before?.invitations.find(({ tag }) => by === `invite:${tag}`);
}

/** The entries after the pinned one, which must be the first of them. Throws HistoryError `history_forked`. */
async function afterPin({ res, head }: HistoryState, entries: readonly string[]): Promise<readonly string[]> {
  const [pinned, ...fresh] = entries;
  const shown = pinned === undefined ? undefined : await readEntry(pinned);
  if (shown?.claims.seq !== head.seq || shown.hash !== head.hash) throw forked(res, head.seq);
  return fresh;
}

function hidden(res: Resource, newest: number): CofferError {
  return new CofferError(
    "bad_answer",
    `the service names entry ${newest} of the history of ${res}, and does not show it`,
  );
}

function requireMark(res: Resource, hashes: ReadonlyMap<number, string>, { seq, hash }: Head): void {
  const shown = hashes.get(seq);
  if (shown !== hash) throw forked(res, seq);
}

export function forked(res: Resource, seq: number): HistoryError {
  const what = `entry ${seq} of the history of ${res} is not the one that was verified before`;
  return new HistoryError("history_forked", what, { res, seq });
}

function rolledBack(res: Resource, seq: number, newest: number | null): HistoryError {
  const shown = newest === null ? "none" : `none after ${newest}`;
  const what = `entry ${seq} of the history of ${res} was verified before, and the service shows ${shown}`;
  return new HistoryError("history_rolled_back", what, { res, seq });
}

/**
 * The hash of an entry before a trusted one, by the chain of hashes between them.
 *
 * @throws HistoryError `history_forked` when the chain does not lead to the trusted entry
 */
export async function hashBefore(read: ReadEntries, res: Resource, seq: number, trusted: Head): Promise<string> {
  let found: string | undefined;
  let last: string | null = null;
  let next = seq;
  while (next <= trusted.seq) {
    const { entries } = await read(res, next === 0 ? undefined : next - 1);
    if (entries.length === 0) throw forked(res, next);
    for (const text of entries) {
      const { claims, hash } = await readEntry(text);
      if (claims.seq !== next || (found !== undefined && claims.prev !== last)) throw forked(res, next);
      found ??= hash;
      last = hash;
      if (next === trusted.seq && hash !== trusted.hash) throw forked(res, next);
      if (next === trusted.seq) return found;
      next += 1;
    }
  }
  throw forked(res, seq);
}
