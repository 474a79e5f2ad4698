import type { PlainRecord } from "./record.ts";

/**
 * Times of an item in another program do not identify it: a later export of the same item must be
 * equal.
 */
const aside = ["original_created_at", "original_updated_at"];

/**
 * A text for each record that is equal whenever the record is read again, at any position,
 * and different for every other record. Equal records are numbered. Ids that are derived from it
 * find the records of an earlier import.
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
