import type { NewRecordRow } from "../store/records.ts";
import { newRecord } from "./bodies.ts";

/** What is wrong with one item of an import. */
export interface ImportIssue {
  index: number;
  issue: string;
}

/** An item that may be stored, with its place in what was sent. */
export interface ImportItem extends NewRecordRow {
  index: number;
}

/** Looks at each item of an import by itself; one whose id another item has is not taken either. */
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
