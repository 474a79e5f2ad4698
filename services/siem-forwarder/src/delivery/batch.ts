import type { AuditRecord } from "@coffer/events";
import type { FormatTarget, OutgoingRecord, SiemFormatter } from "../formats/format.ts";
import type { BacklogRecord } from "../store/deliveries.ts";

/** One record of a batch, encoded. */
export interface BatchItem {
  /** All places of the chain up to this one are settled when this item and those before it are. */
  through: number;
  encoded: string;
}

/** Records that are sent together. */
export interface Batch {
  items: BatchItem[];
  /** The last place that is settled with the batch; `items` may be empty. */
  last: number;
}

/**
 * Encodes the first records of a backlog that fit into one request. Records about failed deliveries to the endpoint
 * itself are left out: each would make another one.
 */
export function batchOf(
  backlog: readonly BacklogRecord[],
  formatter: SiemFormatter<never>,
  target: FormatTarget<never>,
): Batch | null {
  const items: BatchItem[] = [];
  let bytes = 0;
  let last: number | null = null;
  for (const { seq, time, text, is_own: isOwn } of backlog) {
    if (!isOwn) {
      if (items.length >= formatter.mostRecords) break;
      const encoded = formatter.encode(outgoing(text, time), target);
      // A separator for each item, and the brackets.
      bytes += Buffer.byteLength(encoded) + 1;
      if (items.length > 0 && bytes + 2 > formatter.mostBytes) break;
      items.push({ through: seq, encoded });
    }
    last = seq;
    const item = items.at(-1);
    if (item !== undefined) item.through = seq;
  }
  return last === null ? null : { items, last };
}

function outgoing(text: string, time: string): OutgoingRecord {
  return {
    text,
    time,
    get record() {
      return JSON.parse(text) as AuditRecord; // stored by this service, as the text of a record
    },
  };
}
