import { isManager, sign } from "@coffer/history";
import type { Change, HistoryState, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Histories, Verified } from "./histories.ts";
import { understoodHistory } from "./history-failure.ts";
import type { Self } from "./self.ts";

/** A change of a resource: what its next entry says, and the request that carries the entry. */
export interface SignedRequest<T> {
  /** Undefined when the history says it already: the request then has no entry. */
  change: Change | undefined;
  send(entry: string | undefined): Promise<T>;
}

export interface SignOptions {
  /** Begins again after every conflict, also one that another entry is not the reason of. */
  always?: boolean | undefined;
}

/** How often a change begins again because another manager's came before it. */
const rounds = 5;

/**
 * Changes a resource that has a history: reads the newest entry, signs the next, sends both together, and begins again when
 * another entry came in between. `make` sees the state that the entry follows.
 * Throws CofferError: what `make` and its `send` throw, and what reading a history throws.
 */
export async function signChange<T>(
  histories: Histories,
  self: Self,
  res: Resource,
  make: (trusted: Verified) => Promise<SignedRequest<T>>,
  { always = false }: SignOptions = {},
): Promise<T> {
  for (let round = 1; ; round += 1) {
    const trusted = await histories.newest(res);
    try {
      const { change, send } = await understoodHistory(make(trusted));
      const signed = change === undefined ? undefined : await signedEntry(self, trusted.state, res, change);
      const result = await send(signed?.text);
      if (signed !== undefined) await keepSigned(histories, trusted, signed.state);
      return result;
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "conflict" || round === rounds) throw error;
      const { pin } = await histories.newest(res);
      if (pin.seq === trusted.pin.seq && !always) throw error;
    }
  }
}

/** Keeps the state after an entry that the service took. */
export async function keepSigned(histories: Histories, trusted: Verified, state: HistoryState): Promise<void> {
  await histories.keep(state.res, (before) => ({ ...(before ?? trusted), pin: state.head, state }));
}

async function signedEntry(
  self: Self,
  before: HistoryState,
  res: Resource,
  change: Change,
): Promise<{ text: string; state: HistoryState }> {
  if (!self.who.startsWith("user:")) throw new CofferError("access_denied", "a machine signs no entry but its join");
  if (!isManager(before, self.who))
    throw new CofferError("access_denied", `you do not manage ${before.name}: ask somebody who does`);
  return understoodHistory(sign(before, res, self.who as `user:${string}`, await self.privateKey(), change));
}
