import type { RecordDeletion } from "@coffer/events";
import type { Connection } from "../connections/connection.ts";
import type { Deps } from "../deps.ts";
import { createFragments } from "./fragments.ts";
import { type Part, partsFrom } from "./parts.ts";
import type { SyncRequest } from "./read-request.ts";

/**
 * Deletions are buffered until all changes are sent; beyond this many characters they are requested
 * again.
 */
const maxBuffered = 1024 * 1024;

export interface Answer {
  parts: number;
  changes: number;
  deleted: number;
  /** A full sync, because the last sync is unknown. */
  reset: boolean;
}

/**
 * Answers one request with one message, sent while its parts arrive: the changes, then the
 * deletions of all parts. Holds at most two parts and the buffered deletions in memory.
 * @throws what the bus throws; an error if the connection is closed
 */
export async function sendAnswer(deps: Deps, connection: Connection, request: SyncRequest): Promise<Answer> {
  // Catch-up of folders starts here too, but does not reject: answers do not need auth-sm.
  await Promise.all([deps.catchUp.ready(), deps.folderCatchUp.ready()]);
  const parts = partsFrom(deps, connection.holder, request);
  const fragments = createFragments(connection, deps.timings.taken);
  const buffered: string[] = [];
  let bufferedLength = 0;
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
  /**
   * Passes the changes on unparsed, and splits them between two changes where a fragment is full.
   */
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
  for await (const { from, part } of parts(null)) {
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
    if (bufferedLength + length > maxBuffered) restFrom = { after: from };
    else buffered.push(...texts);
    bufferedLength += length;
  }
  await fragments.add('],"deleted":[');
  separator = "";
  await list(buffered);
  if (restFrom !== undefined)
    for await (const { part } of parts(restFrom.after, { onlyDeleted: true })) await list(part.deleted);
  await fragments.end(`],${JSON.stringify(end).slice(1)}`);
  return answer;
}
