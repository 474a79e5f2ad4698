import { holderOf } from "@coffer/history";
import type { HistoryState, Holder } from "@coffer/history";
import { CofferError } from "../errors.ts";

/**
 * The key that something may be sealed to for a holder: the newest state names it, and for people the organization's history
 * holds the same key now. Undefined for every other.
 */
export function confirmedKey(organization: HistoryState, state: HistoryState, who: string): string | undefined {
  const holder = holderOf(state, who);
  if (holder === undefined) return undefined;
  if (!who.startsWith("user:")) return holder.key;
  return holderOf(organization, who)?.key === holder.key ? holder.key : undefined;
}

/** A person as the organization's history has it. Throws CofferError `holder_unconfirmed`. */
export function memberIn(organization: HistoryState, userId: string): Holder & { email: string } {
  const holder = holderOf(organization, `user:${userId}`);
  if (holder?.email !== undefined) return { ...holder, email: holder.email };
  throw new CofferError(
    "holder_unconfirmed",
    `the history of the organization ${organization.name} does not name ${userId}: an owner or admin compares words with ` +
      "the person and confirms with `coffer member confirm`",
  );
}

/** The e-mail of a person in the organization's history; the id of one who is not there. */
export function labelOf(organization: HistoryState, who: string): string {
  return holderOf(organization, who)?.email ?? who;
}
