import type { RecordDeletion } from "@coffer/events";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { createFragments } from "./fragments.ts";
import type { Part } from "./parts.ts";
import { partsFrom } from "./parts.ts";
import type { SyncRequest } from "./read-request.ts";

/** Deletions are kept until all changes are out; those over this many characters are asked for again then. */
const mostKept = 1024 * 1024;

/** How much it was. */
export interface Answer {
  parts: number;
  changes: number;
  deleted: number;
  /** Everything, because nothing was known of the device's last sync. */
  reset: boolean;
}

/**
 * Answers one request with one message. It is sent while its parts come in: changes first, as the message has them, and
 * the deletions of all parts behind them. In memory are two parts of it at most, and the deletions that are kept.
 * @throws what the bus throws; an error when the connection is closed
 */
export async function sendAnswer(deps: Deps, connection: Connection, request: SyncRequest): Promise<Answer> {
  // Of folders too, whose news may be missed from here on; but they are in no answer, which does without auth-sm.
  await Promise.all([deps.news.known(), deps.folderNews.known()]);
  const ask = partsFrom(deps, connection.holder, request);
  const fragments = createFragments(connection, deps.timings.taken);
  const kept: string[] = [];
  let keptLength = 0;
  let restFrom: { after: string | null } | undefined;
  const answer: Answer = { parts: 0, changes: 0, deleted: 0, reset: false };
  let end: { server_time: string; has_more: boolean; reset: boolean } | undefined;

  await fragments.add('{"type":"sync_response","changes":[');
  let separator = "";
  const list = async (items: readonly (RecordDeletion | string)[]): Promise<void> => {
    for (const item of items) {
      const piece = separator + (typeof item === "string" ? item : JSON.stringify(item));
      separator = ",";
      if (fragments.isFull(piece.length)) await fragments.add(piece);
      else fragments.join(piece);
    }
  };
  /** The changes as they came, cut between two of them where a fragment is full. */
  const pass = async ({ changes, change_lengths }: Part): Promise<void> => {
    if (change_lengths.length === 0) return;
    fragments.join(separator);
    separator = ",";
    let from = 0;
    let end = 0;
    for (const length of change_lengths) {
      // The comma before it.
      end += length + (end === 0 ? 0 : 1);
      if (!fragments.isFull(end - from)) continue;
      await fragments.add(changes.subarray(from, end));
      from = end;
    }
    fragments.join(changes.subarray(from));
  };
  for await (const { from, part } of ask(null)) {
    const { server_time, has_more, reset } = part;
    answer.reset ||= reset;
    answer.parts += 1;
    answer.changes += part.change_lengths.length;
    answer.deleted += part.deleted.length;
    end = { server_time, has_more, reset: answer.reset };
    await pass(part);
    if (restFrom !== undefined || part.deleted.length === 0) continue;
    const texts = part.deleted.map((deletion) => JSON.stringify(deletion));
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (keptLength + length > mostKept) restFrom = { after: from };
    else kept.push(...texts);
    keptLength += length;
  }
  await fragments.add('],"deleted":[');
  separator = "";
  await list(kept);
  if (restFrom !== undefined)
    for await (const { part } of ask(restFrom.after, { onlyDeleted: true })) await list(part.deleted);
  await fragments.end(`],${JSON.stringify(end).slice(1)}`);
  return answer;
}
