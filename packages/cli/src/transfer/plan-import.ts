import type { PlainRecord } from "@coffer/import";
import type { PickedVault } from "../pick-vault.ts";

/** A record that could not be imported. */
export interface NotImported {
  item: string;
  reason: string;
}

/** A record that an import makes. */
export interface PlannedRecord extends PlainRecord {
  id: string | undefined;
}

/** What an import does with the records of a file. */
export interface ImportPlan {
  /** Those that the vault does not hold yet. */
  sent: PlannedRecord[];
  /** Names of those that an earlier import made. */
  present: string[];
  /** Those that an earlier import made and that cannot be opened: their ids are taken. */
  unopened: NotImported[];
}

/** Compares records with what the vault holds, by their ids; without ids every record is new. */
export async function planImport(
  { person, vault, leftOut }: PickedVault,
  records: readonly PlainRecord[],
  ids: readonly string[] | undefined,
): Promise<ImportPlan> {
  const there = ids === undefined ? [] : await person.records.list(vault.id);
  const present = new Set(there.map(({ id }) => id));
  const plan: ImportPlan = { sent: [], present: [], unopened: [] };
  for (const [index, record] of records.entries()) {
    const id = ids?.[index];
    const name = record.payload["name"] ?? `record ${index + 1}`;
    if (id !== undefined && present.has(id)) plan.present.push(name);
    // An id is taken also by a record that was altered since, and so cannot be opened.
    else if (id !== undefined && leftOut.has(id))
      plan.unopened.push({ item: name, reason: "it is there, but cannot be opened" });
    else plan.sent.push({ ...record, id });
  }
  return plan;
}
