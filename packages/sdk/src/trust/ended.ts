import { type HistoryState, type HolderId, holderOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import type { Walked } from "../histories/walk.ts";
import { storedFirst } from "./removed.ts";
import type { Trusted, TrustRecord } from "./trust-storage.ts";

/**
 * Stores that the caller ends the access of members or machines to folders and vaults, before the
 * request and until an entry says so. If the service continues to list one, the next key is not
 * sealed to it. A refusal takes that back; after a lost response it stays. Throws what `request` throws.
 * @param which selects the histories
 */
export async function rememberEnded(
  histories: Histories,
  whos: readonly HolderId[],
  which: (res: Resource) => boolean,
  request: () => Promise<unknown>,
): Promise<void> {
  const changed = (record: TrustRecord, change: (ended: HolderId[], res: string) => HolderId[]): TrustRecord => {
    const resources = { ...record.resources };
    for (const [res, trusted] of Object.entries(resources)) {
      if (!which(res as Resource)) continue; // a record has the names of histories
      resources[res] = { ...trusted, ended: change(trusted.ended ?? [], res) };
    }
    return { ...record, resources };
  };
  await storedFirst(
    histories,
    {
      store: (record) => changed(record, (ended) => [...new Set([...ended, ...whos])]),
      takeBack: (record, { resources: earlier }) =>
        changed(record, (ended, res) =>
          ended.filter((who) => !whos.includes(who) || earlier[res]?.ended?.includes(who)),
        ),
    },
    request,
  );
}

/** For a history that cannot be read: ending an access must not wait for it. Throws any other error. */
export function ignoreTrouble(error: unknown): undefined {
  if (!(error instanceof CofferError)) throw error;
}

/**
 * Makes the request. A 404 is no error if the history still names the member: the access had ended
 * before, and the removal is not signed yet.
 */
export async function unlessGone(
  request: () => Promise<unknown>,
  state: HistoryState | null | undefined,
  who: HolderId,
): Promise<void> {
  try {
    await request();
  } catch (error) {
    const isGone = error instanceof CofferError && error.status === 404 && !error.foreign;
    if (!isGone || state == null || holderOf(state, who) === undefined) throw error;
  }
}

/**
 * Whose access has ended, after later entries. A manager who sets a member or machine again restores its
 * access. A join does not: the caller may have ended the access before this device read it. A manager
 * whose own access has ended restores none, and gives none to others: the service can take such entries
 * until the next key.
 */
export function endedAfter(
  before: Pick<Trusted, "state" | "ended"> | undefined,
  { state, set }: Pick<Walked, "state" | "set">,
): HolderId[] {
  const ended = new Set(before?.ended);
  const known = before?.state ?? null;
  const isKnown = (who: HolderId): boolean => known !== null && holderOf(known, who)?.key === holderOf(state, who)?.key;
  for (const { who, by, joins } of set)
    if (!ended.has(by as HolderId)) {
      if (!joins) ended.delete(who);
    } else if (!isKnown(who)) ended.add(who);
  return [...ended].filter((who) => mayHold(state, who));
}

/** Whether a history names a member or machine, or has an invitation with which a machine can still join. */
function mayHold(state: HistoryState, who: HolderId): boolean {
  const canJoin = who.startsWith("client:") && state.invitations.length > 0;
  return canJoin || holderOf(state, who) !== undefined;
}

/** What stays of it when a history is trusted again: the service chose when, and shows the history. */
export function stillEnded(before: Trusted | undefined, state: HistoryState): HolderId[] | undefined {
  return before?.ended?.filter((who) => mayHold(state, who));
}

/** Deletes that for one history, because the caller grants access again. */
export async function forgetEnded(histories: Histories, who: HolderId, res: Resource): Promise<void> {
  if ((await histories.known(res))?.ended?.includes(who) !== true) return;
  await histories.keep(res, (before) => {
    if (before === undefined) throw new TypeError(`nothing is stored of ${res}`);
    return { ...before, ended: before.ended?.filter((one) => one !== who) };
  });
}

/**
 * Throws CofferError `holder_unconfirmed` when the service lists a member or machine whose access
 * the caller has ended.
 */
export function requireEnded(
  { state, ended = [] }: Pick<Trusted, "state" | "ended">,
  listed: readonly { kind: string; id: string; name: string }[],
): void {
  const still = listed.find(({ kind, id }) => ended.some((who) => who === `${kind}:${id}`));
  if (still === undefined) return;
  const name = state?.name ?? "it";
  throw new CofferError(
    "holder_unconfirmed",
    `the service still lists ${still.name} for ${name}, whose access you have ended: no key was sealed. End the access ` +
      "once more, or give it again if that is meant",
  );
}
