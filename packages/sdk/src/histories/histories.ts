import { checkSigners, holderOf, kindOf } from "@coffer/history";
import type { Head, HistoryState, HolderId, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { historyFailure, understoodHistory } from "./history-failure.ts";
import type { ReadEntries } from "./read-entries.ts";
import { trustedIn, withTrusted } from "./trust-storage.ts";
import type { Trusted, TrustRecord, TrustStorage } from "./trust-storage.ts";
import { hashBefore, walk } from "./walk.ts";
import type { Walked } from "./walk.ts";

/** A history as it was verified here. */
export type Verified = Trusted & { state: HistoryState };

/** The histories that a person or machine trusts, each verified up to the newest entry that was needed. */
export interface Histories {
  /** What is kept of a history, without a request; undefined when nothing is. */
  known(res: Resource): Promise<Trusted | undefined>;
  /** The same with what the person's other devices trust now, as far as they have told it. */
  learned(res: Resource): Promise<Trusted | undefined>;
  /** The history with the entry of that number, which a view named; read only when it is newer than what is kept. */
  at(res: Resource, historySeq: number | null | undefined): Promise<Verified>;
  /** The history up to its newest entry, read now. */
  newest(res: Resource): Promise<Verified>;
  /** Keeps what the caller itself has made, joined, signed or accepted. */
  keep(res: Resource, change: (before: Trusted | undefined) => Trusted): Promise<void>;
  /** Verifies a history from entry 0, whatever is kept of it, and keeps it as accepted unless `look` throws. */
  restart(res: Resource, look: (walked: Walked) => Promise<void>): Promise<void>;
  /** Forgets what is kept of histories. */
  forget(which: (res: Resource) => boolean): Promise<void>;
  /** All that is kept. */
  record(): Promise<TrustRecord>;
  /** Changes what is kept, beyond one history. */
  changeRecord(change: (before: TrustRecord) => TrustRecord): Promise<TrustRecord>;
  readonly read: ReadEntries;
}

export interface HistoriesOptions {
  storage: TrustStorage;
  read: ReadEntries;
  self(): Promise<HolderId>;
  /** Brings in what other devices of the person trust, when something is not known here. */
  learn?: ((res: Resource) => Promise<void>) | undefined;
  /** The same, asked now, whatever was asked before; nothing where no keyring was ever seen. */
  learnNow?: (() => Promise<void>) | undefined;
  /** Whether a history that was not accepted yet is the caller's own, or accepted by what is verified now. */
  accepts(verified: Pick<Walked, "state" | "given" | "made">): Promise<boolean>;
  /** Whether organizations' histories say who may sign: people read them, machines cannot. */
  organizations: boolean;
}

/** How often reading begins again because another process was first. */
const rounds = 8;

/**
 * Verifies histories, and keeps of each how far it was verified. What is returned is kept durably: a key may be used that it
 * names. Every method throws CofferError: `no_history`, `not_accepted` for an organization that nothing is known of here,
 * and the codes of `@coffer/history`.
 */
export function histories(options: HistoriesOptions): Histories {
  const { storage, read } = options;
  const walks = new Map<Resource, Promise<Verified>>();
  let held: TrustRecord | undefined;

  const record = async (): Promise<TrustRecord> => (held ??= await storage.load());
  const change = async (apply: (before: TrustRecord) => TrustRecord): Promise<TrustRecord> =>
    (held = await storage.change(apply));

  const replace = async (res: Resource, before: Trusted | undefined, after: Trusted): Promise<boolean> => {
    let replaced = false;
    await change((present) => {
      const there = trustedIn(present, res);
      replaced = isSame(there?.pin, before?.pin) && isSame(there?.expect, before?.expect);
      if (!replaced) return present;
      const accepted = after.accepted || there?.accepted === true;
      return { ...withTrusted(present, res, { ...after, accepted }), unsaved: present.unsaved || isShared(res) };
    });
    return replaced;
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
    const checked_by = await checkOrganization(res, walked, before?.pin ?? null);
    const accepted = before?.accepted === true || (await options.accepts(walked));
    const { sealed_until, pin_version, told } = before ?? {};
    // A manager who sets a holder gives access again.
    const ended = before?.ended?.filter((who) => holderOf(state, who) !== undefined && !walked.set.has(who));
    const verified = { pin: state.head, state, accepted, given, checked_by };
    const after: Verified = { ...verified, sealed_until, ended, pin_version, told };
    return (await replace(res, before, after)) ? after : undefined;
  };

  /** The hash of an entry of a verified history. */
  const hashOf = (state: HistoryState, shown?: ReadonlyMap<number, string>) => async (seq: number) =>
    shown?.get(seq) ?? (await hashBefore(read, state.res, seq, state.head));

  /**
   * A signer who is not in the organization now counts no further than the organization says.
   *
   * @returns the hash of the organization's newest entry; undefined where organizations are not read
   */
  const checkOrganization = async (
    res: Resource,
    { state, hashes }: Walked,
    pin: Head | null,
  ): Promise<string | undefined> => {
    if (!options.organizations || kindOf(res) === "org") return undefined;
    const organization = await newest(`org:${state.org ?? ""}`);
    await checkSigners(organization.state, state, pin, hashOf(state, hashes));
    return organization.state.head.hash;
  };

  /**
   * Checks the signers of a history that is up to date, once the organization's has gone on: a manager who was removed may
   * have signed entries that this device verified before it saw the removal. Costs no request while nothing has changed.
   */
  const checkAgain = async (res: Resource, known: Verified): Promise<Verified> => {
    if (!options.organizations || kindOf(res) === "org") return known;
    const organization = trustedIn(await record(), `org:${known.state.org ?? ""}`)?.state;
    if (organization == null || organization.head.hash === known.checked_by) return known;
    await checkSigners(organization, known.state, known.pin, hashOf(known.state));
    const checked: Verified = { ...known, checked_by: organization.head.hash };
    await change((present) =>
      isSame(trustedIn(present, res)?.pin, known.pin) ? withTrusted(present, res, checked) : present,
    );
    return checked;
  };

  /** A folder that was not accepted may be by what the histories of others say since. */
  const acceptAgain = async (res: Resource, known: Verified): Promise<Verified> => {
    if (known.accepted || !(await options.accepts({ state: known.state, given: known.given, made: undefined })))
      return known;
    const accepted: Verified = { ...known, accepted: true };
    await change((present) =>
      isSame(trustedIn(present, res)?.pin, known.pin) ? withTrusted(present, res, accepted) : present,
    );
    return accepted;
  };

  const bring = async (res: Resource): Promise<Verified> => {
    try {
      for (let round = 0; round < rounds; round += 1) {
        const verified = await once(res);
        if (verified !== undefined) return verified;
      }
    } catch (error) {
      throw historyFailure(error);
    }
    throw new CofferError("conflict", `other processes keep changing what this device trusts of ${res}: try again`);
  };

  /** Of calls at the same time one reads. */
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
    changeRecord: change,
    newest,
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
    async keep(res, apply) {
      await change((before) => {
        const there = trustedIn(before, res);
        const after = apply(there);
        // Another process may have verified more than what the caller has just signed.
        const kept =
          there !== undefined && there.pin.seq > after.pin.seq ? { ...there, accepted: after.accepted } : after;
        return { ...withTrusted(before, res, kept), unsaved: before.unsaved || isShared(res) };
      });
    },
    async restart(res, look) {
      try {
        const walked = await walk(read, res, await options.self(), undefined);
        if (walked === null) throw noHistory(res);
        const checked_by = await checkOrganization(res, walked, null);
        await look(walked);
        const { state, given } = walked;
        const trusted: Trusted = { pin: state.head, state, accepted: true, given, checked_by };
        await change((before) => ({ ...withTrusted(before, res, trusted), unsaved: before.unsaved || isShared(res) }));
      } catch (error) {
        throw historyFailure(error);
      }
    },
    async forget(which) {
      await change((before) => ({
        ...before,
        resources: Object.fromEntries(Object.entries(before.resources).filter(([res]) => !which(res as Resource))),
      }));
    },
  };
}

/** Whether the person's other devices are told of it by the keyring. */
function isShared(res: Resource): boolean {
  return kindOf(res) !== "vault";
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
