import type { AuditDraft, AuditRecord, ChainHead } from "@coffer/events";
import { chainAudit } from "@coffer/events";
import { unfit } from "./chain-of.ts";
import type { HourSpan } from "../store/hours.ts";
import type { ChainedRecord } from "../store/records.ts";
import { hourOf } from "./hour-of.ts";

/** A record that has no place yet, and the chain in which it will get one. */
export interface ChainedDraft {
  chainId: string;
  draft: AuditDraft;
}

/** Records in their places, the ends of their chains after them, and where each hour's are. */
export interface Placed {
  records: ChainedRecord[];
  heads: Map<string, ChainHead>;
  hours: HourSpan[];
}

/**
 * Gives each draft the next place of its chain, in the order given.
 * @param heads the present end of every chain that occurs
 * @throws ServiceError `invalid_request` for a record that has no canonical form
 */
export function place(heads: ReadonlyMap<string, ChainHead>, drafts: readonly ChainedDraft[]): Placed {
  const moved = new Map<string, ChainHead>();
  const hours = new Map<string, HourSpan>();
  const records = drafts.map(({ chainId, draft }) => {
    const head = moved.get(chainId) ?? heads.get(chainId);
    if (head === undefined) throw new TypeError("a record came for a chain that is not locked");
    const record = chained(head, draft);
    moved.set(chainId, { seq: record.seq, hash: record.hash });
    const hour = hourOf(record.time);
    const span = hours.get(chainId + hour);
    if (span === undefined) hours.set(chainId + hour, { chainId, hour, first: record.seq, last: record.seq });
    else span.last = record.seq;
    return { chainId, record };
  });
  return { records, heads: moved, hours: [...hours.values()] };
}

function chained(head: ChainHead, draft: AuditDraft): AuditRecord {
  try {
    return chainAudit(head, draft);
  } catch {
    throw unfit(draft, "cannot be hashed");
  }
}
