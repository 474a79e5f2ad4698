import type { RecordSummary } from "./protocol/session.ts";

const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** The order of the list: by name, then by id. */
export function byName(a: Pick<RecordSummary, "id" | "name">, b: Pick<RecordSummary, "id" | "name">): number {
  return compare(a.name, b.name) || (a.id < b.id ? -1 : 1);
}

/** Case and accents do not matter in a search. */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
