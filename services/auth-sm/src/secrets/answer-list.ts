import type { Streamed, Tagged } from "@coffer/http";
import { streamed, tagged } from "@coffer/http";
import type { ListedSecret } from "../store/secret-parts.ts";
import { mostRows } from "../store/secret-parts.ts";
import type { Rest } from "../store/secret-rests.ts";

/** Secrets that the caller may have, as judged by the statement that read them. */
export interface ListPart<Row extends ListedSecret = ListedSecret> {
  rows: readonly Row[];
  /** Whether the list goes on after these. */
  more: boolean;
  /** What the caller sees of a secret. */
  view(row: ListedSecret): object;
  /** Puts on record that so many secrets are handed out; `reason` is `part` when the answer does not end with them. */
  record(count: number, reason?: "part"): Promise<void>;
}

/** How a list goes on after its first part. */
export interface Following<Key> {
  /** The `limit` of the request; without one the answer is the whole list. */
  limit: number | undefined;
  cursor(after: Key): string;
  /** Finds what follows: `limit` secrets or all. */
  find(after: Key, limit: number | undefined): Promise<Rest<Key>>;
  /**
   * Reads secrets by uid.
   * @throws ServiceError when the caller may not have them any more
   */
  read(uids: readonly string[]): Promise<ListPart>;
}

/**
 * The answer that begins with this part. A list that has no more than this goes out at once; a longer one part by part,
 * each judged and on record before it leaves, so that memory holds one of them (docs/adr/0011).
 */
export async function answerList<Row extends ListedSecret & Key, Key extends object>(
  tag: string,
  first: ListPart<Row>,
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

/** An answer as JSON text. The first part is taken out of its list: nothing is to hold it once it has been sent. */
async function* textOf<Key>(
  first: ListPart[],
  find: () => Promise<Rest<Key>>,
  { limit, cursor, read }: Following<Key>,
): AsyncGenerator<string> {
  yield '{"data":[';
  yield* textOfSecrets(first.pop(), "");
  const { uids, end } = await find();
  const count = uids.length / uidLength;
  let done = 0;
  do {
    const asked = Array.from({ length: Math.min(count - done, mostRows) }, (_, n) => uidAt(uids, done + n));
    const part = await read(asked);
    const last = part.rows.at(-1);
    done += part.more && last !== undefined ? asked.indexOf(last.uid) + 1 : asked.length;
    await part.record(part.rows.length, done < count ? "part" : undefined);
    yield* textOfSecrets(part, ",");
  } while (done < count);
  yield limit === undefined ? "]}" : `],"next_cursor":${JSON.stringify(end && cursor(end))}}`;
}

function uidAt(uids: string, n: number): string {
  return uids.slice(n * uidLength, (n + 1) * uidLength);
}

/** The secrets of a part, in pieces that need no more memory than a single large one. */
function* textOfSecrets(part: ListPart | undefined, before: "" | ","): Generator<string> {
  if (part === undefined) return;
  let text = "";
  let separator: string = before;
  for (const row of part.rows) {
    text += separator + JSON.stringify(part.view(row));
    separator = ",";
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}
