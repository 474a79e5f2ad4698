import { type HistoryState, type HolderId, holderOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import type { Walked } from "../histories/walk.ts";
import { storedFirst } from "./removed.ts";
import { changedIn, type Trusted, type TrustRecord } from "./trust-storage.ts";

/** So many revoked machines are remembered for histories that this device does not know yet. */
const mostRevoked = 1_000;

/**
 * Stores that the caller ends the access of members or machines to folders and vaults, before the
 * request. If the service continues to list one, the next key is not sealed to it. A refusal takes
 * that back; after a lost response it stays. Throws what `request` throws.
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

/**
 * Stores that the caller revokes machines, in every folder, also in those that this device learns of later.
 * Otherwise like `rememberEnded`.
 */
export function rememberRevoked(
  histories: Histories,
  machines: readonly HolderId[],
  request: () => Promise<unknown>,
): Promise<void> {
  const isOfFolder = (res: Resource): boolean => res.startsWith("folder:");
  const inAll = (): Promise<void> => rememberEnded(histories, machines, isOfFolder, request);
  return storedFirst(
    histories,
    {
      store: (record) => ({ ...record, revoked: [...(record.revoked ?? []), ...machines].slice(-mostRevoked) }),
      takeBack: (record, { revoked }) => ({
        ...record,
        revoked: record.revoked?.filter((who) => !machines.includes(who) || revoked?.includes(who)),
      }),
    },
    inAll,
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
 * Whose access has ended, after later entries. No entry of others restores it: the service may have
 * withheld one from before. A manager whose own access has ended gives none to others: the service can take such
 * entries until the next key.
 * @param revoked the machines that this device has revoked
 */
export function endedAfter(
  before: Pick<Trusted, "state" | "ended"> | undefined,
  { state, set }: Pick<Walked, "state" | "set">,
  revoked: readonly HolderId[] = [],
): HolderId[] {
  const ended = new Set([...(before?.ended ?? []), ...revoked]);
  const known = before?.state ?? null;
  const isKnown = (who: HolderId): boolean => known !== null && holderOf(known, who)?.key === holderOf(state, who)?.key;
  for (const { who, by } of set) if (ended.has(by as HolderId) && !isKnown(who)) ended.add(who);
  return [...ended].filter((who) => !revoked.includes(who) || mayHold(state, who));
}

/** Whether a history names a member or machine, or has an invitation with which a machine can still join. */
function mayHold(state: HistoryState, who: HolderId): boolean {
  const canJoin = who.startsWith("client:") && state.invitations.length > 0;
  return canJoin || holderOf(state, who) !== undefined;
}

/**
 * What stays of it after an entry that this device has signed: what others sign later is not from
 * before the end.
 * @param signedWith whose access had ended when it was signed
 */
export function endedAfterOwn(
  ended: readonly HolderId[] | undefined,
  signedWith: readonly HolderId[] | undefined,
  state: HistoryState,
): HolderId[] | undefined {
  return ended?.filter((who) => signedWith?.includes(who) !== true || mayHold(state, who));
}

/** Deletes that for one history, because the caller grants access again. */
export async function forgetEnded(histories: Histories, who: HolderId, res: Resource): Promise<void> {
  const without = (whos: readonly HolderId[] | undefined): HolderId[] | undefined => whos?.filter((one) => one !== who);
  const { resources, revoked = [] } = await histories.record();
  if (![...revoked, ...(resources[res]?.ended ?? [])].includes(who)) return;
  await histories.changeRecord((record) => ({
    ...changedIn(record, res, (there) => ({ ...there, ended: without(there.ended) })),
    revoked: without(record.revoked),
  }));
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
