import type { PlainRecord } from "@coffer/import";
import { countOf, tell } from "../output.ts";
import type { PickedVault } from "../pick-vault.ts";

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
  { person, vault, leftOut }: PickedVault,
  records: readonly PlainRecord[],
  ids: readonly string[] | undefined,
): Promise<SentImport> {
  const there = ids === undefined ? [] : await person.records.list(vault.id);
  const present = new Set(there.map(({ id }) => id));
  const all = records.map(({ type, payload }, index) => ({ type, fields: payload, id: ids?.[index] }));
  // An id is taken also by a record that was altered since, and so cannot be opened.
  const unopened = all.filter(({ id }) => id !== undefined && leftOut.has(id));
  const sent = all.filter(({ id }) => id === undefined || !(present.has(id) || leftOut.has(id)));
  let done = 0;
  const { imported, errors } = await person.records
    .import(vault.id, sent, {
      onProgress: (progress) => {
        done = progress.done;
        tell(`${progress.done} of ${countOf(progress.total, "record")}`);
      },
    })
    .catch((error: unknown) => {
      tell(`stopped after ${done} of ${countOf(sent.length, "record")}: the same command again goes on from there`);
      throw error;
    });
  const nameOf = (index: number): string => sent[index]?.fields["name"] ?? `record ${index + 1}`;
  const taken = errors.filter(({ issue }) => ids !== undefined && issue.startsWith("id: taken"));
  return {
    imported,
    present: records.length - sent.length - unopened.length,
    deleted: taken.map(({ index }) => nameOf(index)),
    failed: [
      ...unopened.map(({ fields }) => ({ item: fields["name"] ?? "", reason: "it is there, but cannot be opened" })),
      ...errors
        .filter((error) => !taken.includes(error))
        .map(({ index, issue }) => ({ item: nameOf(index), reason: issue })),
    ],
  };
}
