import {
  checkSigners,
  cutName,
  type Head,
  type HistoryState,
  type HolderId,
  kindOf,
  type Resource,
} from "@coffer/history";
import { CofferError } from "../errors.ts";
import { endedAfter } from "../trust/ended.ts";
import { changing, heldTrust } from "../trust/held-trust.ts";
import { knownAsAfter } from "../trust/known-as.ts";
import { type Trusted, trustedIn, type TrustRecord, type TrustStorage, withTrusted } from "../trust/trust-storage.ts";
import { cutFailure, historyFailure, understoodHistory } from "./history-failure.ts";
import {
  checkedBefore,
  departuresIn,
  isSameList,
  type Left,
  leftSince,
  mergeLeft,
  withDepartures,
  withLeft,
} from "./left.ts";
import type { ReadEntries } from "./read-entries.ts";
import { forked, hashBefore, walk, type Walked } from "./walk.ts";

/**
 * What a check of the signers of a folder or vault against its organization stores. It counts only
 * while `left` is what is known of former members.
 */
type Checked = Pick<Trusted, "checked_by" | "checked_at" | "left">;

/** A verified history. */
export type Verified = Trusted & { state: HistoryState };

/**
 * The histories that a person or machine trusts, each verified up to the newest entry that was
 * needed.
 */
export interface Histories {
  /** The stored state of a history, without a request; undefined when there is none. */
  known(res: Resource): Promise<Trusted | undefined>;
  /** The stored state, merged with the current pins of the person's other devices. */
  learned(res: Resource): Promise<Trusted | undefined>;
  /**
   * The history up to the entry that a view names. Reads only if that is newer than the stored
   * state.
   */
  at(res: Resource, historySeq: number | null | undefined): Promise<Verified>;
  /** Reads and verifies the history up to its newest entry. */
  newest(res: Resource): Promise<Verified>;
  /**
   * The newest state of a folder's or vault's history, with the newest state of its organization's,
   * against which its signers were checked. Former members that a removal left out of this history
   * have a `cut` there too. For an organization both are the same.
   */
  withOrganization(res: Resource): Promise<{ trusted: Verified; organization: HistoryState }>;
  /**
   * Whether nothing has been learned since that can change what a verified history says: no entry
   * of it, no later entry by another device, no entry of its organization, and no access that the
   * caller has ended. Other processes that share the storage count. Makes no request.
   */
  isUnchanged(verified: Verified): Promise<boolean>;
  /**
   * A folder's or vault's history up to its newest entry, verified from entry 0 and against the
   * organization's state. Stores nothing. Null without a history.
   */
  examine(res: Resource, organization: HistoryState): Promise<HistoryState | null>;
  /**
   * Stores what the caller has created, joined, signed or accepted. If another process has stored
   * something else meanwhile, one history must contain both, and the later one stays.
   * @param signedOn the entry that the caller has signed the next one on
   */
  keep(res: Resource, change: (before: Trusted | undefined) => Trusted, signedOn?: Head): Promise<void>;
  /**
   * Verifies a history from entry 0, whatever is stored, and stores it as accepted unless `look`
   * throws. What is known of former members counts, at most up to its newest entry. Throws
   * `conflict` when this device has verified another entry meanwhile, which `look` has not seen.
   */
  restart(res: Resource, look: (walked: Walked) => Promise<void>): Promise<void>;
  /** Everything that is stored, as this process last read it. */
  record(): Promise<TrustRecord>;
  /** Everything that is stored now. */
  stored(): Promise<TrustRecord>;
  /** Notes that these pins of forgotten vaults have none of this vault's, or that the change puts it back. */
  searched(res: Resource, hidden: readonly string[]): void;
  /**
   * Changes stored data beyond one history. Throws `conflict` when the change adds a vault of which
   * another process may have forgotten a pin meanwhile.
   */
  changeRecord(change: (before: TrustRecord) => TrustRecord): Promise<TrustRecord>;
  readonly read: ReadEntries;
}

export interface HistoriesOptions {
  storage: TrustStorage;
  read: ReadEntries;
  self(): Promise<HolderId>;
  /** Merges the pins of the person's other devices when a history is unknown here. */
  learn?: ((res: Resource) => Promise<void>) | undefined;
  /** Merges them again now; does nothing if no keyring was ever seen. */
  learnNow?: (() => Promise<void>) | undefined;
  /**
   * Whether a history that is not accepted yet is the caller's own, or is accepted because of what
   * is verified now.
   */
  accepts(verified: Pick<Walked, "state" | "given" | "made">): Promise<boolean>;
  /** Whether organizations' histories say who may sign. People read them; machines cannot. */
  organizations: boolean;
}

/** How often reading restarts after another process has made a change; then it fails. */
const rounds = 8;

/**
 * Verifies histories and stores durably how far each was verified, before it returns them: a key
 * may then be used. Every method throws CofferError: `no_history`, `not_accepted` for an
 * organization that is unknown here, and the codes of `@coffer/history`.
 */
export function histories(options: HistoriesOptions): Histories {
  const { storage, read } = options;
  const isMachine = !options.organizations;
  const walks = new Map<Resource, Promise<Verified>>();
  const { record, stored, searched, change, tryToStore } = heldTrust(storage);

  const replace = async (
    res: Resource,
    before: Trusted | undefined,
    after: Verified,
    walked: Walked,
  ): Promise<Verified | undefined> => {
    let replaced: Verified | undefined;
    const isStored = await tryToStore(res, (there, { revoked }) => {
      if (!hasSamePins(there, before) || !isSameList(there?.left, after.left)) return undefined;
      // Later changes by other calls, such as this device's removals, must stay.
      const { sealed_until, sealed_at, pin_version, told, removed, took } = there ?? {};
      const kept = {
        accepted: removed !== true && (after.accepted || there?.accepted === true),
        known_as: knownAsAfter(there, after.state.name),
        ended: endedAfter(there, walked, revoked),
        ...{ sealed_until, sealed_at, pin_version, told, removed, took },
      };
      replaced = withDepartures(there, { ...after, ...kept }, walked.departures);
      return replaced;
    });
    return isStored ? replaced : undefined;
  };

  /**
   * Throws HistoryError `history_forked` unless the older of two entries is part of the history
   * before the other.
   */
  const requireOneHistory = async (res: Resource, one: Head, other: Head): Promise<void> => {
    if (isSame(one, other)) return;
    const [older, newer] = one.seq < other.seq ? [one, other] : [other, one];
    const isBefore = older.seq < newer.seq && (await hashBefore(read, res, older.seq, newer)) === older.hash;
    if (!isBefore) throw forked(res, older.seq);
  };

  /** What is stored of a history, also of a vault that was forgotten. */
  const recalled = async (res: Resource): Promise<Trusted | undefined> => {
    const there = trustedIn(await stored(), res);
    if (there !== undefined || kindOf(res) !== "vault" || options.learn === undefined) return there;
    await options.learn(res);
    return trustedIn(await record(), res);
  };

  const once = async (res: Resource): Promise<Verified | undefined> => {
    let before = trustedIn(await record(), res);
    if (before === undefined && options.learn !== undefined) {
      await options.learn(res);
      before = trustedIn(await record(), res);
    }
    if (before === undefined && kindOf(res) === "org") throw await unknownOrganization(read, res);
    const walked = await walk(read, res, await options.self(), before);
    if (walked === null) throw noHistory(res);
    const { state, given } = walked;
    if (before?.state?.head.seq === state.head.seq && before.expect === undefined)
      return checkAgain(res, await acceptAgain(res, { ...before, state }));
    const checked = await checkOrganization(res, walked, before);
    const wasAccepted = before?.accepted === true;
    // The caller's own folder, if a pin of it says that it is not used any more.
    const made = before === undefined ? walked.made : undefined;
    const accepted = wasAccepted || (await options.accepts({ ...walked, made }));
    const unasked = isMachine && (wasAccepted ? before?.unasked : accepted);
    const former = isMachine ? walked.formerManagers : undefined;
    const after = { pin: state.head, state, accepted, given, unasked, former_managers: former, ...checked };
    return replace(res, before, after, walked);
  };

  /** The hash of an entry of a verified history. */
  const hashOf = (state: HistoryState, shown?: ReadonlyMap<number, string>) => async (seq: number) =>
    shown?.get(seq) ?? (await hashBefore(read, state.res, seq, state.head));

  /**
   * Checks that signers who left the organization count only as far as the organization says.
   * @returns nothing where organizations are not read
   */
  const checkOrganization = async (
    res: Resource,
    { state, hashes }: Walked,
    before: Trusted | undefined,
  ): Promise<Checked> => {
    if (!options.organizations || kindOf(res) === "org") return {};
    const organization = await newest(`org:${state.org ?? ""}`);
    const left = await leftNow(organization, state);
    const known = before === undefined ? left.map(asShown(hashes)) : left;
    return checkAgainst(organization.state, state, before?.pin ?? null, known, hashes);
  };

  /**
   * What is known of who left the organization, for the stored pin of a folder or vault. Stores it
   * also when the history is then refused: another device of the person may have a later pin.
   */
  const leftNow = async (organization: Trusted, state: HistoryState): Promise<readonly Left[]> => {
    const { res } = state;
    const there = trustedIn(await record(), res);
    const left = there && leftSince(organization, there, state, await cutName(res));
    if (!isSameList(there?.left, left))
      await tryToStore(res, (now) => now && { ...now, left: mergeLeft(now.left, left) });
    return trustedIn(await record(), res)?.left ?? [];
  };

  /**
   * Checks the signers against the organization's history, and against what this device has learned
   * of people who left and may have returned.
   */
  const checkAgainst = async (
    organization: HistoryState,
    state: HistoryState,
    pin: Head | null,
    left: readonly Left[],
    hashes?: ReadonlyMap<number, string>,
  ): Promise<Checked> => {
    const { res } = state;
    const { hash: checked_by, seq: checked_at } = organization.head;
    const hashAt = hashOf(state, hashes);
    try {
      await checkSigners(organization, state, pin, hashAt);
      if (left.length > 0) {
        const ofLeft = (seq: number): string | undefined => left.find(({ until }) => until?.seq === seq)?.until?.hash;
        const limited = withLeft(organization, await cutName(res), left);
        await checkSigners(limited, state, pin, async (seq) => ofLeft(seq) ?? hashAt(seq));
      }
      return { checked_by, checked_at, left };
    } catch (error) {
      throw cutFailure(error, pin);
    }
  };

  /**
   * Checks the signers of an up-to-date history again after the organization's history has new
   * entries: a removed manager may have signed entries that this device verified before it saw the
   * removal. Costs no request while nothing has changed.
   */
  const checkAgain = async (res: Resource, known: Verified): Promise<Verified> => {
    if (!options.organizations || kindOf(res) === "org") return known;
    const organization = trustedIn(await record(), `org:${known.state.org ?? ""}`);
    if (organization?.state == null || organization.state.head.hash === known.checked_by) return known;
    const left = await leftNow(organization, known.state);
    const checked = await checkAgainst(organization.state, known.state, known.pin, left);
    // Another process may have learned something else meanwhile.
    return checkAgain(res, await noted(res, known, checked));
  };

  /** Later entries of other histories can make a folder accepted. */
  const acceptAgain = async (res: Resource, known: Verified): Promise<Verified> => {
    if (known.accepted || !(await options.accepts({ state: known.state, given: known.given, made: undefined })))
      return known;
    return noted(res, known, { accepted: true, unasked: isMachine });
  };

  /**
   * Stores something else about a verified history, with what other calls have stored since, unless
   * they have learned something else of former members.
   */
  const noted = async (
    res: Resource,
    known: Verified,
    note: Partial<Pick<Trusted, "accepted" | "unasked"> & Checked>,
  ): Promise<Verified> => {
    let stored: Verified = { ...known, ...note };
    await change((present) => {
      const there = trustedIn(present, res);
      if (there?.state == null || !isSame(there.pin, known.pin)) return present;
      stored = { ...there, ...(isSameList(there.left, note.left) && note), state: known.state };
      return withTrusted(present, res, stored);
    });
    return stored;
  };

  const bring = async (res: Resource): Promise<Verified> => {
    try {
      // Before a key is sealed: another process may know of a later entry that the service hides.
      await stored();
      for (let round = 0; round < rounds; round += 1) {
        const verified = await once(res);
        if (verified !== undefined) return verified;
      }
    } catch (error) {
      throw historyFailure(error);
    }
    throw changing(res);
  };

  const withOrganization: Histories["withOrganization"] = async (res) => {
    if (kindOf(res) === "org") {
      const trusted = await newest(res);
      return { trusted, organization: trusted.state };
    }
    for (let round = 0; round < rounds; round += 1) {
      // The organization first: reading the history then checks its signers against that state.
      const org = trustedIn(await record(), res)?.state?.org;
      if (org != null) await newest(`org:${org}`);
      const trusted = await newest(res);
      const organization = trustedIn(await record(), `org:${trusted.state.org ?? ""}`)?.state;
      if (organization == null || organization.head.hash !== trusted.checked_by) continue;
      return { trusted, organization: withLeft(organization, await cutName(res), trusted.left) };
    }
    throw changing(res);
  };

  /** Concurrent calls share one read. */
  const newest = (res: Resource): Promise<Verified> => {
    const under = walks.get(res);
    if (under !== undefined) return under;
    const work = bring(res).finally(() => walks.delete(res));
    walks.set(res, work);
    return work;
  };

  return {
    read,
    record,
    stored,
    searched,
    changeRecord: change,
    newest,
    withOrganization,
    async isUnchanged({ pin, state, accepted, ended, left, checked_by }) {
      // Another process may have seen the end of a key while the service hides it from this one.
      const present = await stored();
      const known = trustedIn(present, state.res);
      if (!hasSamePins(known, { pin, state, accepted }) || known?.accepted !== accepted) return false;
      if (!isSameList(known.ended, ended) || !isSameList(known.left, left)) return false;
      const organization = options.organizations ? trustedIn(present, `org:${state.org ?? ""}`)?.state : undefined;
      if (organization == null) return true;
      return organization.head.hash === checked_by && known.checked_by === checked_by;
    },
    async examine(res, organization) {
      const walked = await walk(read, res, await options.self(), undefined);
      if (walked !== null) await checkSigners(organization, walked.state, null, hashOf(walked.state, walked.hashes));
      return walked?.state ?? null;
    },
    known: async (res) => trustedIn(await record(), res),
    async learned(res) {
      await options.learnNow?.();
      return trustedIn(await record(), res);
    },
    async at(res, historySeq) {
      const known = trustedIn(await record(), res);
      const state = known?.state;
      if (known !== undefined && state != null && known.expect === undefined && known.pin.seq === historySeq)
        return understoodHistory(acceptAgain(res, { ...known, state }).then((accepted) => checkAgain(res, accepted)));
      if (known === undefined && (historySeq === null || historySeq === undefined)) throw noHistory(res);
      return newest(res);
    },
    async keep(res, apply, signedOn) {
      try {
        for (let round = 0; round < rounds; round += 1) {
          const before = await recalled(res);
          if (before !== undefined && !isSame(before.pin, signedOn))
            await requireOneHistory(res, before.pin, apply(before).pin);
          const isStored = await tryToStore(res, (there) => {
            if (!isSame(there?.pin, before?.pin)) return undefined;
            const after = apply(there);
            const isLater = there !== undefined && there.pin.seq > after.pin.seq;
            if (isLater) return { ...there, accepted: after.accepted };
            const { state } = after;
            return withDepartures(there, after, state === null ? [] : departuresIn(there?.state ?? null, state));
          });
          if (isStored) return;
        }
      } catch (error) {
        throw historyFailure(error);
      }
      throw changing(res);
    },
    async restart(res, look) {
      try {
        const before = trustedIn(await stored(), res);
        const walked = await walk(read, res, await options.self(), undefined);
        if (walked === null) throw noHistory(res);
        const { state, given, departures, hashes } = walked;
        const checked = await checkOrganization(res, walked, undefined);
        await look(walked);
        if (kindOf(res) === "org")
          await change((now) => ({ ...now, resources: checkedBefore(now.resources, state, departures) }));
        const former = isMachine ? walked.formerManagers : undefined;
        const trusted: Trusted = {
          ...{ pin: state.head, state, accepted: true, given },
          ...{ former_managers: former, ...checked },
        };
        const isStored = await tryToStore(res, (there, { revoked }) => {
          const left = there?.left?.map(asShown(hashes));
          if (!hasSamePins(there, before) || !isSameList(left, checked.left)) return undefined;
          // A machine has no other way to take a new name.
          const known_as = isMachine ? undefined : knownAsAfter(there, state.name);
          const ended = endedAfter(there, walked, revoked);
          return withDepartures(there, { ...trusted, ended, known_as }, departures);
        });
        if (isStored) return;
      } catch (error) {
        throw historyFailure(error);
      }
      throw changing(res);
    },
  };
}

/**
 * The limit of a former member in a history that is trusted as it is shown. Where that lacks the
 * entry of the limit, its entry of that number is the limit, or its last one: what the person signs
 * from now on does not count.
 */
const asShown =
  (hashes: ReadonlyMap<number, string>) =>
  (left: Left): Left => {
    // The whole history was read.
    const seq = Math.min(left.until?.seq ?? 0, hashes.size - 1);
    return { ...left, until: left.until && { seq, hash: hashes.get(seq) as string } };
  };

/** Whether no other entry was verified in between, here or on another device. */
export function hasSamePins(one: Trusted | undefined, other: Trusted | undefined): boolean {
  const pinsOf = (of: Trusted | undefined): string => [of?.pin, ...(of?.expect ?? [])].map((head) => head?.hash).join();
  return pinsOf(one) === pinsOf(other);
}

function isSame(one: Head | undefined, other: Head | undefined): boolean {
  return one?.seq === other?.seq && one?.hash === other?.hash;
}

export function noHistory(res: Resource): CofferError {
  const [kind = "", id = ""] = res.split(":");
  const noun = kind === "org" ? "organization" : kind;
  return new CofferError(
    "no_history",
    `the ${noun} ${id} has no history, so nothing says who may have its keys: a manager adopts it with ` +
      `\`coffer ${kind} adopt ${id}\``,
  );
}

async function unknownOrganization(read: ReadEntries, res: Resource): Promise<CofferError> {
  if ((await read(res, undefined)).newest === null) return noHistory(res);
  const id = res.slice("org:".length);
  return new CofferError(
    "not_accepted",
    `nothing is known here of the history of the organization ${id}: compare the words that \`coffer org trust ${id}\` shows`,
  );
}
