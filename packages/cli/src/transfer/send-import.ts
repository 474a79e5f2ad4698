import type { PlainRecord } from "@coffer/import";
import type { PersonClient } from "@coffer/sdk";
import { tell } from "../output.ts";

export interface SentImport {
  imported: number;
  /** Those that an earlier import made. */
  present: number;
  /** Names of those that an earlier import made and somebody deleted: their ids stay taken for a while. */
  deleted: string[];
  failed: { item: string; reason: string }[];
}

/**
 * Sends records to a vault, those that it does not hold yet, and says how far it is. Throws CofferError when a piece
 * could not be sent: what was sent before is there, and the same again goes on from it.
 */
export async function sendImport(
  person: PersonClient,
  vaultId: string,
  records: readonly PlainRecord[],
  ids: readonly string[] | undefined,
): Promise<SentImport> {
  const there = ids === undefined ? [] : await person.records.list(vaultId);
  const present = new Set(there.map(({ id }) => id));
  const sent = records.flatMap(({ type, payload }, index) => {
    const id = ids?.[index];
    return id !== undefined && present.has(id) ? [] : [{ type, fields: payload, id }];
  });
  let done = 0;
  const { imported, errors } = await person.records
    .import(vaultId, sent, {
      onProgress: (progress) => {
        done = progress.done;
        tell(`${progress.done} of ${progress.total} records`);
      },
    })
    .catch((error: unknown) => {
      tell(`stopped after ${done} of ${sent.length} records: the same command again goes on from there`);
      throw error;
    });
  const nameOf = (index: number): string => sent[index]?.fields["name"] ?? `record ${index + 1}`;
  const taken = errors.filter(({ issue }) => ids !== undefined && issue.startsWith("id: taken"));
  return {
    imported,
    present: records.length - sent.length,
    deleted: taken.map(({ index }) => nameOf(index)),
    failed: errors
      .filter((error) => !taken.includes(error))
      .map(({ index, issue }) => ({ item: nameOf(index), reason: issue })),
  };
}
