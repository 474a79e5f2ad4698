import type { AuditDraft, ChainHead } from "@coffer/events";
import { firstPreviousHash } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { lockChains, moveChains, openChains } from "../store/chains.ts";
import { widenHours } from "../store/hours.ts";
import { findStored, insertRecords } from "../store/records.ts";
import { chainOf } from "./chain-of.ts";
import type { ChainedDraft } from "./place.ts";
import { place } from "./place.ts";

/**
 * Puts records at the ends of their chains, all of them or none. A record whose id is stored
 * already, or comes twice, changes nothing the second time. When it returns, they are durable.
 * @returns how many were new
 * @throws ServiceError `invalid_request` for a record that no chain can hold, `unavailable` while
 *   Postgres is away
 */
export async function appendAudit(
  deps: Pick<Deps, "database">,
  { records }: { records: readonly AuditDraft[] },
): Promise<{ stored: number }> {
  const drafts = distinct(records);
  const chainIds = [...new Set(drafts.map(({ chainId }) => chainId))];
  let stored = await appendToChains(deps, chainIds, drafts);
  if (stored === null) {
    // Before any chain is locked: a transaction that waits here holds no lock, so it cannot deadlock.
    await openChains(deps.database.pool, chainIds, { seq: 0, hash: firstPreviousHash });
    stored = await appendToChains(deps, chainIds, drafts);
  }
  if (stored === null) throw new Error("a chain that was opened is not there");
  return { stored };
}

/** How many records were new; null, and nothing is done, when one of the chains does not exist. */
function appendToChains(
  { database }: Pick<Deps, "database">,
  chainIds: readonly string[],
  drafts: readonly ChainedDraft[],
): Promise<number | null> {
  return database.transaction(async (tx) => {
    const heads = await lockChains(tx, chainIds);
    if (heads.size < chainIds.length) return null;
    // Only now: what another has appended meanwhile is visible to every statement after the lock.
    const known = await findStored(
      tx,
      drafts.map(({ draft }) => draft),
    );
    const fresh = drafts.filter(({ draft }) => !known.has(draft.id.toLowerCase()));
    if (fresh.length > 0) await appendAt(tx, heads, fresh);
    return fresh.length;
  });
}

/** Stores records at the ends of chains that the transaction has locked. Returns the new ends. */
export async function appendAt(
  tx: Transaction,
  heads: ReadonlyMap<string, ChainHead>,
  drafts: readonly ChainedDraft[],
): Promise<ReadonlyMap<string, ChainHead>> {
  const placed = place(heads, drafts);
  await insertRecords(tx, placed.records);
  await moveChains(tx, placed.heads);
  await widenHours(tx, placed.hours);
  return placed.heads;
}

function distinct(records: readonly AuditDraft[]): ChainedDraft[] {
  const byId = new Map<string, ChainedDraft>();
  for (const draft of records) {
    const id = draft.id.toLowerCase();
    if (!byId.has(id)) byId.set(id, { chainId: chainOf(draft), draft });
  }
  return [...byId.values()];
}
