import type { PlainRecord } from "./record.ts";

/** When an item was made and changed elsewhere says nothing of what it is: a later export of the same item is the same. */
const aside = ["original_created_at", "original_updated_at"];

/**
 * For each record a text that is the same whenever the same record is read again, whatever its place in the file, and
 * another for every other record. Records that are the same throughout are numbered. An id made of it finds again what an
 * earlier import made.
 */
export function importContents(records: readonly PlainRecord[]): string[] {
  const seen = new Map<string, number>();
  return records.map(({ type, payload }) => {
    const fields = Object.entries(payload).filter(([key]) => !aside.includes(key));
    const content = JSON.stringify([type, fields.sort(([a], [b]) => (a < b ? -1 : 1))]);
    const number = seen.get(content) ?? 0;
    seen.set(content, number + 1);
    return `${number} ${content}`;
  });
}
