import { countOf, printNotice } from "../output/output.ts";
import type { PickedVault } from "../service/pick-vault.ts";
import type { ImportPlan, NotImported } from "./plan-import.ts";

export interface SentImport {
  imported: number;
  /**
   * The names of records from an earlier import that were deleted: their ids stay taken for a
   * while.
   */
  deleted: string[];
  failed: NotImported[];
}

/**
 * Sends the planned records to a vault and prints the progress. Throws CofferError when a batch
 * could not be sent: earlier batches are stored, and the same import continues after them.
 */
export async function sendImport({ person, vault }: PickedVault, { sent }: ImportPlan): Promise<SentImport> {
  let done = 0;
  const records = sent.map(({ id, type, payload }) => ({ id, type, fields: payload }));
  const { imported, errors } = await person.records
    .import(vault.id, records, {
      onProgress: (progress) => {
        done = progress.done;
        printNotice(`${progress.done} of ${countOf(progress.total, "record")}`);
      },
    })
    .catch((error: unknown) => {
      printNotice(
        `stopped after ${done} of ${countOf(sent.length, "record")}: repeat the command to continue from there`,
      );
      throw error;
    });
  const nameOf = (index: number): string => sent[index]?.payload["name"] ?? `record ${index + 1}`;
  const taken = errors.filter(({ index, issue }) => sent[index]?.id !== undefined && issue.startsWith("id: taken"));
  return {
    imported,
    deleted: taken.map(({ index }) => nameOf(index)),
    failed: errors
      .filter((error) => !taken.includes(error))
      .map(({ index, issue }) => ({ item: nameOf(index), reason: issue })),
  };
}
