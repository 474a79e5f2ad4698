import type { HistoryState, HolderId, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories } from "../histories/histories.ts";
import type { Trusted } from "./trust-storage.ts";

/**
 * Stores that the caller has ended the access of a member or machine to folders and vaults, until
 * an entry says so. If the service continues to list it, the next key is not sealed to it.
 * @param which selects the histories
 */
export async function rememberEnded(
  histories: Histories,
  who: HolderId,
  which: (res: Resource, trusted: Trusted) => boolean,
): Promise<void> {
  await histories.changeRecord((before) => {
    const resources = { ...before.resources };
    for (const [res, trusted] of Object.entries(before.resources)) {
      if (!which(res as Resource, trusted)) continue; // a record has the names of histories
      resources[res] = { ...trusted, ended: [...new Set([...(trusted.ended ?? []), who])] };
    }
    return { ...before, resources };
  });
}

/** What stays of it when a history is trusted again: the service chose when, and shows the history. */
export function stillEnded(before: Trusted | undefined, { holders }: HistoryState): HolderId[] | undefined {
  return before?.ended?.filter((ended) => holders.some(({ who }) => who === ended));
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
