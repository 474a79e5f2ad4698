import { type Streamed, streamed, type Tagged, tagged } from "@coffer/http";
import { type ListedSecret, mostRows } from "../store/secrets/secret-batches.ts";
import type { Rest } from "../store/secrets/secret-rests.ts";

/** A batch of secrets that the caller may have, as authorized by the statement that read them. */
export interface ListBatch<Row extends ListedSecret = ListedSecret> {
  rows: readonly Row[];
  /** Whether the list continues after this batch. */
  more: boolean;
  view(row: ListedSecret): object;
  /**
   * Audits that so many secrets are returned; `reason` is `part` when the response continues after
   * them.
   */
  record(count: number, reason?: "part"): Promise<void>;
}

/** How a list continues after its first batch. */
export interface Following<Key> {
  /** The `limit` of the request; undefined for the whole list. */
  limit: number | undefined;
  cursor(after: Key): string;
  /** Finds the rest: `limit` secrets, or all. */
  find(after: Key, limit: number | undefined): Promise<Rest<Key>>;
  /** Reads secrets by uid. @throws ServiceError when the caller may not have them any more */
  read(uids: readonly string[]): Promise<ListBatch>;
}

/**
 * The response that starts with this batch. A list of one batch is sent at once. A longer one is
 * streamed: each batch is authorized and audited before it is sent, and memory holds one batch
 * (docs/adr/0011).
 */
export async function answerList<Row extends ListedSecret & Key, Key extends object>(
  tag: string,
  first: ListBatch<Row>,
  following: Following<Key>,
): Promise<Tagged | Streamed> {
  const { rows, more, view, record } = first;
  const { limit, cursor } = following;
  const last = rows.at(-1);
  if (!more || last === undefined || rows.length === limit) {
    await record(rows.length);
    const data = rows.map(view);
    const next = more && last !== undefined ? cursor(last) : null;
    return tagged(tag, limit === undefined ? { data } : { data, next_cursor: next });
  }
  await record(rows.length, "part");
  const left = limit === undefined ? undefined : limit - rows.length;
  return streamed(
    tag,
    textOf([first], () => following.find(last, left), following),
  );
}

const uidLength = 22;
const pieceCharacters = 64 * 1024;

/**
 * The response as JSON text. Takes the first batch out of its array, so that nothing keeps it in
 * memory after it was sent.
 */
async function* textOf<Key>(
  first: ListBatch[],
  find: () => Promise<Rest<Key>>,
  { limit, cursor, read }: Following<Key>,
): AsyncGenerator<string> {
  yield '{"data":[';
  yield* textOfSecrets(first.pop(), "");
  const { uids, end } = await find();
  const count = uids.length / uidLength;
  let done = 0;
  do {
    const next = Array.from({ length: Math.min(count - done, mostRows) }, (_, n) => uidAt(uids, done + n));
    const batch = await read(next);
    const last = batch.rows.at(-1);
    done += batch.more && last !== undefined ? next.indexOf(last.uid) + 1 : next.length;
    await batch.record(batch.rows.length, done < count ? "part" : undefined);
    yield* textOfSecrets(batch, ",");
  } while (done < count);
  yield limit === undefined ? "]}" : `],"next_cursor":${JSON.stringify(end && cursor(end))}}`;
}

function uidAt(uids: string, n: number): string {
  return uids.slice(n * uidLength, (n + 1) * uidLength);
}

/** The secrets of a batch, in chunks that need no more memory than one large secret. */
function* textOfSecrets(batch: ListBatch | undefined, before: "" | ","): Generator<string> {
  if (batch === undefined) return;
  let text = "";
  let separator: string = before;
  for (const row of batch.rows) {
    text += separator + JSON.stringify(batch.view(row));
    separator = ",";
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
