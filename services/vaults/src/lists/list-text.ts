import { partText } from "./part-text.ts";

/** Rows of a list that follow each other, and how they are put on record. */
export interface Part<Row> {
  rows: readonly Row[];
  /** Whether the list goes on after these. */
  more: boolean;
  /** `reason` is `part` when the answer does not end with it. */
  record(reason?: "part"): Promise<void>;
}

/** What a list is made of. */
export interface ListOf<Row> {
  view: (row: Row) => unknown;
  /** The cursor with which a list goes on after this row. */
  cursor: (row: Row) => string;
  /** Reads and judges the part after a row, of at most `left` rows. */
  next: (after: Row, left: number | undefined) => Promise<Part<Row>>;
  /** The length of a page; undefined for the whole list. */
  limit: number | undefined;
}

/** Where the list goes on after this part; null when it does not. */
export function cursorAfter<Row>(
  { rows, more }: Pick<Part<Row>, "rows" | "more">,
  { cursor }: Pick<ListOf<Row>, "cursor">,
): string | null {
  const last = rows.at(-1);
  return more && last !== undefined ? cursor(last) : null;
}

/**
 * An answer in parts as JSON text, each on record before it leaves (docs/adr/0011). The first part is taken out of its
 * list: nothing is to hold it once it has been sent.
 */
export async function* listText<Row>(first: Part<Row>[], list: ListOf<Row>): AsyncGenerator<string> {
  const { limit } = list;
  yield '{"data":[';
  let before: "" | "," = "";
  let count = 0;
  let part = first.pop();
  let cursor: string | null = null;
  while (part !== undefined) {
    yield* partText(part.rows, list.view, before);
    if (part.rows.length > 0) before = ",";
    count += part.rows.length;
    cursor = cursorAfter(part, list);
    const last = part.rows.at(-1);
    if (!part.more || last === undefined || count === limit) break;
    part = await list.next(last, limit === undefined ? undefined : limit - count);
    const goesOn = part.more && count + part.rows.length !== limit;
    await part.record(goesOn ? "part" : undefined);
  }
  yield limit === undefined ? "]}" : `],"next_cursor":${JSON.stringify(cursor)}}`;
}
