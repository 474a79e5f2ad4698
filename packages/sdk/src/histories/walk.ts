import {
  type Claims,
  extendAll,
  type Head,
  HistoryError,
  type HistoryState,
  type Holder,
  type HolderId,
  holderOf,
  type OpenInvitation,
  readEntry,
  type Resource,
} from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Manager, Trusted } from "../trust/trust-storage.ts";
import { type Departure, departuresIn } from "./left.ts";
import type { ReadEntries } from "./read-entries.ts";

/** A member or machine that an entry sets. */
export interface SetBy {
  who: HolderId;
  /** The signer; for a join the maker of its invitation. */
  by: string;
}

/** A history at its newest entry. */
export interface Walked {
  state: HistoryState;
  /** The signer of the entry that named the caller. */
  given: Trusted["given"];
  /**
   * The key that signed entry 0 in the caller's name; undefined for another signer, or when entry 0
   * was not read.
   */
  made: string | undefined;
  /**
   * The invitation with which the caller joined; undefined without a join, or when it was not read.
   */
  joinedBy: OpenInvitation | undefined;
  /** The person who is responsible for the newest entry; undefined when no new entry was read. */
  signer: Trusted["given"];
  /** The members and machines that entries after the pin have set, in order. */
  set: readonly SetBy[];
  /** The people who managed it before or by a read entry, and do so no longer with that key. */
  formerManagers: readonly Manager[];
  /** For an organization: the members who left by the read entries, and restated cuts. */
  departures: readonly Departure[];
  /** The hashes of the read entries, by number. */
  hashes: ReadonlyMap<number, string>;
}

/**
 * Reads and verifies the entries after the trusted state. It reads the pinned entry once more, to
 * detect a fork of the same length.
 * @returns null when there is no history, and none is trusted
 * @throws HistoryError `history_invalid`, `history_rolled_back`, `history_forked`; CofferError
 */
export async function walk(
  read: ReadEntries,
  res: Resource,
  self: HolderId,
  before: Trusted | undefined,
): Promise<Walked | null> {
  const pinned = before?.state ?? null;
  const pins = before === undefined ? [] : [before.pin, ...(before.expect ?? [])];
  const least = Math.max(-1, ...pins.map(({ seq }) => seq));
  const walked: Taken = {
    state: pinned,
    given: pinned === null ? undefined : before?.given,
    made: undefined,
    joinedBy: undefined,
    signer: undefined,
    set: [],
    makers: new Map((pinned?.invitations ?? []).map(({ tag, by }) => [`invite:${tag}`, by])),
    managers: [...(before?.former_managers ?? []), ...(pinned?.holders ?? []).filter(isManaging)],
    departures: [],
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
    await take(walked, res, self, fresh, hashes, before?.pin.seq ?? -1);
    ({ state } = walked);
    if (state !== null && state.head.seq >= newest) break;
    if (state === null || (fresh.length === 0 && !first)) throw hidden(res, newest);
    after = state.head.seq;
  }
  for (const pin of pins) requireEntry(res, hashes, pin);
  const { managers, makers: _, ...taken } = walked;
  return { ...taken, state, hashes, formerManagers: formerOf(managers, state) };
}

type Taken = Omit<Walked, "state" | "set" | "formerManagers" | "departures" | "hashes"> & {
  state: HistoryState | null;
  set: SetBy[];
  /** The makers of invitations, by `invite:<tag>`. */
  makers: Map<string, string>;
  managers: Manager[];
  departures: Departure[];
};

/**
 * Verifies entries and applies them. Examines the last one, those that set the caller, and those
 * that drop something, in the state before them.
 */
async function take(
  walked: Taken,
  res: Resource,
  self: HolderId,
  texts: readonly string[],
  hashes: Map<number, string>,
  pinned: number,
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
    const { by, set = [], invite = [] } = claims;
    for (const { tag } of invite) walked.makers.set(`invite:${tag}`, by);
    if (claims.seq > pinned) walked.set.push(...set.map(({ who }) => ({ who, by: walked.makers.get(by) ?? by })));
    walked.managers.push(...set.filter(isManaging));
    const mine = set.some(({ who }) => who === self);
    if (!mine && claims.drop === undefined && index < texts.length - 1) continue;
    await extend(texts.slice(from, index));
    const { state: before } = walked;
    const signer = giverOf(walked.state, claims);
    const joinedBy = invitationOf(walked.state, claims);
    await extend([text]);
    if (walked.state !== null) walked.departures.push(...departuresIn(before, walked.state));
    walked.signer = signer;
    if (mine) walked.given = signer;
    if (mine) walked.joinedBy = joinedBy ?? walked.joinedBy;
    if (mine && claims.seq === 0 && claims.by === self) walked.made = signer?.key;
    from = index + 1;
  }
}

function isManaging({ perm }: Pick<Holder, "perm">): boolean {
  return perm === "manage";
}

/** Those of the people who do not manage it in this state, each once. */
function formerOf(managers: readonly Manager[], { holders }: HistoryState): Manager[] {
  const present = new Set(holders.filter(isManaging).map(({ who, key }) => `${who} ${key}`));
  const former = new Map(managers.map(({ who, key }) => [`${who} ${key}`, { who, key }]));
  return [...former].flatMap(([name, manager]) => (present.has(name) ? [] : [manager]));
}

/** The person who is responsible for an entry; for a join the maker of its invitation. */
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

/**
 * The entries after the pinned one, which must come first. Throws HistoryError `history_forked`.
 */
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

function requireEntry(res: Resource, hashes: ReadonlyMap<number, string>, { seq, hash }: Head): void {
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
