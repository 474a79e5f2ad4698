import type { PlainRecord } from "@coffer/import";
import type { PickedVault } from "../service/pick-vault.ts";

/** A record that could not be imported. */
export interface NotImported {
  item: string;
  reason: string;
}

/** A record that an import creates. */
export interface PlannedRecord extends PlainRecord {
  id: string | undefined;
}

/** The plan for the records of a file. */
export interface ImportPlan {
  /** The records that the vault does not have yet. */
  sent: PlannedRecord[];
  /** The names of records from an earlier import. */
  present: string[];
  /** Records from an earlier import that cannot be opened: their ids are taken. */
  unopened: NotImported[];
}

/** Compares records with the vault by their ids; without ids every record is new. */
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
    // A record that was altered since, and cannot be opened, also occupies its id.
    else if (id !== undefined && leftOut.has(id))
      plan.unopened.push({ item: name, reason: "it exists, but cannot be opened" });
    else plan.sent.push({ ...record, id });
  }
  return plan;
}
