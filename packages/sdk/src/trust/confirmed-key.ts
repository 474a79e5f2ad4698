import { type Context, seal } from "@coffer/crypto";
import { countsNow, type HistoryState, type Holder, holderOf } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Trusted } from "./trust-storage.ts";

declare const confirmed: unique symbol;

/** A public key that managers have signed for its holder. Only `confirmedKey` makes one. */
export type ConfirmedKey = string & { readonly [confirmed]: true };

/**
 * The only place that decides whether the key of a folder or vault may be sealed to a member or
 * machine. The newest state names the holder, whose access the caller has not ended. For people,
 * the organization's history has the same key now, and a person who was removed from the
 * organization and has returned was set again after the `cut`.
 * @param organization the newest state of the organization's history
 * @param trusted the newest state of the folder's or vault's history
 * @returns undefined when nothing may be sealed
 */
export async function confirmedKey(
  organization: HistoryState,
  { state, ended = [] }: { state: HistoryState } & Pick<Trusted, "ended">,
  who: string,
): Promise<ConfirmedKey | undefined> {
  const holder = holderOf(state, who);
  if (holder === undefined || ended.includes(holder.who)) return undefined;
  const since = state.set_at[who] ?? 0;
  const isNow = !who.startsWith("user:") || (await countsNow(organization, state.res, { ...holder, since }));
  return isNow ? (holder.key as ConfirmedKey) : undefined; // checked here and nowhere else
}

/** Seals the key of a folder or vault to a holder. */
export function sealToHolder(holder: ConfirmedKey, key: Uint8Array, context: Context): Promise<string> {
  return seal(holder, key, context);
}

/** A person in the organization's history. Throws CofferError `holder_unconfirmed`. */
export function memberIn(organization: HistoryState, userId: string): Holder & { email: string } {
  const holder = holderOf(organization, `user:${userId}`);
  if (holder?.email !== undefined) return { ...holder, email: holder.email };
  throw new CofferError(
    "holder_unconfirmed",
    `the history of the organization ${organization.name} does not name ${userId}: an owner or admin compares words with ` +
      "the person and confirms with `coffer member confirm`",
  );
}

/**
 * The e-mail of a person in the organization's history; otherwise the id. With the id where others
 * have the e-mail too.
 */
export function labelOf({ holders }: HistoryState, who: string): string {
  const email = holders.find((one) => one.who === who)?.email ?? who;
  // A manager can sign the e-mail of another member.
  return holders.filter((one) => one.email === email).length > 1 ? `${email} (${who}, one of several)` : email;
}
