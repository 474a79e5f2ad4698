import type { AuditRecord } from "@coffer/events";
import type { FormatTarget, Frame, SiemFormatter } from "../formats/format.ts";
import type { BacklogRecord } from "../store/deliveries.ts";

/** One record of a batch. */
export interface BatchItem {
  /** The last `seq` that is done when this item and all earlier ones are delivered or parked. */
  through: number;
  /** Its bytes in the body of the batch: from the first to after the last. */
  start: number;
  end: number;
}

/** Records that are sent together. */
export interface Batch {
  items: BatchItem[];
  /** The body of the request with all items. */
  body: Buffer;
  /** The last `seq` that is done with the batch; `items` may be empty. */
  last: number;
}

/** UTF-8 has at most so many bytes for one UTF-16 code unit. */
const mostBytesPerUnit = 3;

/**
 * Encodes the first records of a backlog that fit into one request; a record that is too large
 * alone is a batch by itself. Leaves out records about failed deliveries to the endpoint itself:
 * each would cause another one.
 */
export function batchOf(
  backlog: readonly BacklogRecord[],
  formatter: SiemFormatter<never>,
  target: FormatTarget<never>,
): Batch | null {
  const { mostRecords, mostBytes, frame } = formatter;
  const items: BatchItem[] = [];
  let body = Buffer.allocUnsafe(mostBytes);
  let end = body.write(frame.open);
  let last: number | null = null;
  for (const { seq, seconds, text, isOwn } of backlog) {
    if (!isOwn) {
      if (items.length >= mostRecords) break;
      const encoded = formatter.encode({ text, seconds, parse: () => parse(text) }, target);
      const start = items.length === 0 ? end : end + frame.separator.length;
      // Measures only what may not fit.
      if (start + encoded.length * mostBytesPerUnit + frame.close.length > mostBytes) {
        const size = start + Buffer.byteLength(encoded) + frame.close.length;
        if (size > mostBytes && items.length > 0) break;
        if (size > mostBytes) body = Buffer.alloc(size, frame.open);
      }
      if (items.length > 0) body.write(frame.separator, end);
      end = start + body.write(encoded, start);
      items.push({ through: seq, start, end });
    }
    last = seq;
    const item = items.at(-1);
    if (item !== undefined) item.through = seq;
  }
  if (last === null) return null;
  end += body.write(frame.close, end);
  return { items, body: body.subarray(0, end), last };
}

/** The body of a request with some items of a batch, which follow each other. */
export function bodyOf({ body }: Batch, { open, close }: Frame, items: readonly BatchItem[]): Buffer {
  const records = body.subarray(items.at(0)?.start, items.at(-1)?.end);
  return Buffer.concat([Buffer.from(open), records, Buffer.from(close)]);
}

function parse(text: string): AuditRecord {
  return JSON.parse(text) as AuditRecord; // stored by this service, as the text of a record
}
