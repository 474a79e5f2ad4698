import type { AuditDraft, ChainHead } from "@coffer/events";
import { firstPreviousHash } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { lockChains, openChains } from "../store/chains.ts";
import { appendAt } from "./append.ts";

/** A transaction that holds the lock of one chain. */
export interface ChainTransaction {
  tx: Transaction;
  /** Appends a record of this service, which is new, to the chain. Returns its place. */
  append(draft: AuditDraft): Promise<number>;
}

/**
 * Runs `work` in a transaction that holds the lock of an organization's chain, so that a change and
 * its audit record commit together. Such a transaction takes its other locks after the chain's.
 */
export async function inChain<Result>(
  { database }: Pick<Deps, "database">,
  chainId: string,
  work: (chain: ChainTransaction) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    database.transaction(async (tx) => {
      const locked = (await lockChains(tx, [chainId])).get(chainId);
      if (locked === undefined) return null;
      let head: ChainHead = locked;
      const append = async (draft: AuditDraft): Promise<number> => {
        const heads = await appendAt(tx, new Map([[chainId, head]]), [{ chainId, draft }]);
        head = heads.get(chainId) ?? head;
        return head.seq;
      };
      return { result: await work({ tx, append }) };
    });
  let done = await attempt();
  if (done === null) {
    // In a separate transaction, before any chain is locked: it waits without holding a lock.
    await openChains(database.pool, [chainId], { seq: 0, hash: firstPreviousHash });
    done = await attempt();
  }
  if (done === null) throw new Error("a chain that was opened is not there");
  return done.result;
}
