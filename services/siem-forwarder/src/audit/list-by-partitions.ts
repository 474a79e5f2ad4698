import type { Queryable } from "@coffer/postgres";
import type { Span } from "../store/hours.ts";
import { findPartitions, type PartitionSpan, type TimeRange } from "../store/partitions.ts";
import { listRecords, type RecordFilter, type StoredRecord } from "../store/records.ts";

/**
 * Lists records in the order of their places. It reads the first partition of the page, then two,
 * four and so on, until the page is full.
 */
export async function listByPartitions(db: Queryable, filter: RecordFilter): Promise<StoredRecord[]> {
  const partitions = await findPartitions(db, filter);
  const found: StoredRecord[] = [];
  for (const part of partsOf(partitions, filter)) {
    found.push(...(await listRecords(db, { ...filter, ...part, limit: filter.limit - found.length })));
    if (found.length >= filter.limit) break;
  }
  return found;
}

interface Part {
  span: Span;
  within: TimeRange;
}

/**
 * Divides the span where a partition has its first place. Each part names all partitions that have
 * records of it: late records are in the partition of an earlier month.
 */
function partsOf(partitions: readonly PartitionSpan[], { span, order }: RecordFilter): Part[] {
  const starts = [span.first, ...partitions.slice(1).map(({ first }) => Math.max(span.first, first))];
  const pieces = starts.map((first, at) => ({ first, last: (starts[at + 1] ?? span.last + 1) - 1 }));
  if (order === "desc") pieces.reverse();
  const parts: Part[] = [];
  for (let at = 0, size = 1; at < pieces.length; at += size, size *= 2) {
    const group = pieces.slice(at, at + size);
    const first = Math.min(...group.map((piece) => piece.first));
    const last = Math.max(...group.map((piece) => piece.last));
    const within = boundsOf(partitions.filter((one) => one.first <= last && one.last >= first));
    if (within !== null) parts.push({ span: { first, last }, within });
  }
  return parts;
}

/** Times of the same form, `-infinity` and `infinity` have the order of their texts. */
function boundsOf(ranges: readonly TimeRange[]): TimeRange | null {
  const [from] = ranges.map((range) => range.from).sort();
  const to = ranges
    .map((range) => range.to)
    .sort()
    .at(-1);
  return from === undefined || to === undefined ? null : { from, to };
}
