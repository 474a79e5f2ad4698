import type { NewRecordRow } from "../store/records/records.ts";
import { newRecord } from "./bodies.ts";

/** The problem of one item of an import. */
export interface ImportIssue {
  index: number;
  issue: string;
}

/** A valid item, with its index in the request. */
export interface ImportItem extends NewRecordRow {
  index: number;
}

/** Validates each item of an import; an item with the id of an earlier one is an error. */
export function readItems(
  sent: readonly unknown[],
  newId: () => string,
): { items: ImportItem[]; errors: ImportIssue[] } {
  const items: ImportItem[] = [];
  const errors: ImportIssue[] = [];
  const ids = new Set<string>();
  for (const [index, each] of sent.entries()) {
    const { data, error } = newRecord.safeParse(each);
    if (data === undefined) {
      const [first] = error.issues;
      const field = first?.path.join(".") ?? "";
      errors.push({ index, issue: `${field === "" ? "the item" : field}: ${first?.message ?? "not a record"}` });
      continue;
    }
    const { id = newId(), type, encrypted_data: encryptedData } = data;
    if (ids.has(id)) errors.push({ index, issue: "id: another item has it" });
    else items.push({ index, id, type, encryptedData });
    ids.add(id);
  }
  return { items, errors };
}
