import {
  type Change,
  countsNow,
  type HistoryState,
  type HolderId,
  isManager,
  kindOf,
  type Resource,
  sign,
} from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories, Verified } from "./histories.ts";
import { understoodHistory } from "./history-failure.ts";
import type { Self } from "./self.ts";
import { sendSigned } from "./send-signed.ts";

/** A change of a resource: its next entry, and the request that carries the entry. */
export interface SignedRequest<T> {
  /** Undefined when the history contains the change already. The request then has no entry. */
  change: Change | undefined;
  /** `after` is the state that the entry makes; without an entry the present one. */
  send(entry: string | undefined, after: HistoryState): Promise<T>;
}

export interface SignOptions {
  /** Restarts after every conflict, also one without a new entry. */
  always?: boolean | undefined;
}

/** How often a change restarts after a concurrent entry of another manager. */
const rounds = 5;

/**
 * Changes a resource that has a history: reads the newest entry, signs the next, sends both
 * together, and restarts after a concurrent entry. `make` receives the state before the entry, and
 * the newest state of the organization's history. It makes every request that the change needs:
 * `send` makes its own at once, and can be repeated. So nothing that was learned during `make` is
 * missed.
 * Throws CofferError: what `make` and its `send` throw, what reading a history throws, and
 * `bad_answer` when the service acknowledges the change and does not show its entry.
 */
export async function signChange<T>(
  histories: Histories,
  self: Self,
  res: Resource,
  make: (trusted: Verified, organization: HistoryState) => Promise<SignedRequest<T>>,
  { always = false }: SignOptions = {},
): Promise<T> {
  for (let round = 1; ; round += 1) {
    const { trusted, organization } = await histories.withOrganization(res);
    let isOvertaken = false;
    try {
      const { change, send } = await understoodHistory(make(trusted, organization));
      const signed = change === undefined ? undefined : await signedEntry(organization, self, trusted.state, change);
      isOvertaken = !(await histories.isUnchanged(trusted));
      if (isOvertaken) throw changedMeanwhile(trusted.state);
      if (change === undefined || signed === undefined) return await send(undefined, trusted.state);
      const { text, state: after } = signed;
      return await sendSigned(histories, [{ before: trusted, change, after }], () => send(text, after));
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "conflict" || round === rounds) throw error;
      if (isOvertaken) continue;
      const { pin } = await histories.newest(res);
      if (pin.seq === trusted.pin.seq && !always) throw error;
    }
  }
}

/** The error when the history, or its organization's, has new entries since it was read. */
export function changedMeanwhile({ name }: HistoryState): CofferError {
  return new CofferError("conflict", `${name} was changed at the same time: try again`);
}

/**
 * Signs the next entry of a history as a person whose signature counts.
 * @param organization the newest state of the organization's history
 * @throws CofferError `access_denied` when the caller may not sign
 */
export async function signedEntry(
  organization: HistoryState,
  self: Self,
  before: HistoryState,
  change: Change,
): Promise<{ text: string; state: HistoryState }> {
  const { res, name, set_at: setAt } = before;
  if (!isPerson(self.who)) throw new CofferError("access_denied", "a machine signs no entry but its join");
  if (!isManager(before, self.who))
    throw new CofferError("access_denied", `you do not manage ${name}: ask a manager of it`);
  const signer = { who: self.who, key: self.publicKey, since: setAt[self.who] ?? 0 };
  if (kindOf(res) !== "org" && !(await countsNow(organization, res, signer)))
    throw new CofferError(
      "access_denied",
      `you were removed from the organization after you got access to ${name}: another manager must share it with you again first`,
    );
  return understoodHistory(sign(before, res, self.who, await self.privateKey(), change));
}

function isPerson(who: HolderId): who is `user:${string}` {
  return who.startsWith("user:");
}
