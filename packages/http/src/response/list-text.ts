import { streamed, type Streamed } from "./reply.ts";

/** Consecutive rows of a list, with the function that audits them, if reads of the list are audited. */
export interface Part<Row> {
  rows: readonly Row[];
  /** Whether more rows follow. */
  more: boolean;
  /** `reason` is `part` if more parts follow. */
  record?(reason?: "part"): Promise<void>;
}

/** How to make a list from rows. */
export interface ListOf<Row> {
  view: (row: Row) => unknown;
  /** The cursor of the rows after this one. */
  cursor: (row: Row) => string;
  /** Reads and authorizes the part after a row, of at most `left` rows. */
  next: (after: Row, left: number | undefined) => Promise<Part<Row>>;
  /** The length of a page; undefined for the whole list. */
  limit: number | undefined;
}

/** The cursor of the next page; null on the last one. */
export function cursorAfter<Row>(
  { rows, more }: Pick<Part<Row>, "rows" | "more">,
  { cursor }: Pick<ListOf<Row>, "cursor">,
): string | null {
  const last = rows.at(-1);
  return more && last !== undefined ? cursor(last) : null;
}

/**
 * The response that starts with this part, without an entity tag. It is streamed if the list or page
 * is longer than the part (docs/adr/0011).
 */
export async function answerParts<Row>(first: Part<Row>, list: ListOf<Row>): Promise<object | Streamed> {
  const { limit } = list;
  const isWhole = !first.more || first.rows.length === limit;
  await first.record?.(isWhole ? undefined : "part");
  if (!isWhole) return streamed(undefined, listText([first], list));
  const data = first.rows.map(list.view);
  return limit === undefined ? { data } : { data, next_cursor: cursorAfter(first, list) };
}

/**
 * A response as JSON text, part by part. Each part is audited before it is sent (docs/adr/0011).
 * Removes the first part from its array, so that it can be collected once it is sent.
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
    const continues = part.more && count + part.rows.length !== limit;
    await part.record?.(continues ? "part" : undefined);
  }
  yield limit === undefined ? "]}" : `],"next_cursor":${JSON.stringify(cursor)}}`;
}

const pieceCharacters = 64 * 1024;

/** Rows as items of a JSON array, in pieces of about 64 Ki characters. */
function* partText<Row>(rows: readonly Row[], view: (row: Row) => unknown, before: "" | ","): Generator<string> {
  let text = "";
  let separator: string = before;
  for (const row of rows) {
    text += separator + JSON.stringify(view(row));
    separator = ",";
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
