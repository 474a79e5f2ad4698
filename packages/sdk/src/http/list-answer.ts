import { CofferError } from "../errors.ts";
import type { ApiAnswer } from "./transport.ts";

/**
 * The items of a `{data: […]}` response: objects or texts, and otherwise the service's word. Throws
 * CofferError `bad_answer` for any other: a gateway's page must not look like an empty list.
 */
export function dataOf<Item = unknown>({ status, body }: ApiAnswer): Item[] {
  const { data } = (body ?? {}) as { data?: unknown };
  if (Array.isArray(data) && data.every(isItem)) return data as Item[];
  throw new CofferError("bad_answer", "the service answered with something else than the requested list", {
    status,
  });
}

function isItem(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

export function namedItems<Item extends { name: string }>(items: readonly unknown[]): Item[] {
  const named = (item: unknown): boolean => typeof (item as { name?: unknown }).name === "string";
  if (items.every(named)) return items as Item[];
  throw new CofferError("bad_answer", "the service answered with an item without a name");
}

/** The folders of a response. Throws CofferError `bad_answer` when a folder is listed twice. */
export function foldersOf<Item extends { id: string; name: string }>(answer: ApiAnswer): Item[] {
  const folders = namedItems<Item>(dataOf(answer));
  if (new Set(folders.map(({ id }) => id)).size === folders.length) return folders;
  throw new CofferError("bad_answer", "the service lists a folder twice", { status: answer.status });
}
