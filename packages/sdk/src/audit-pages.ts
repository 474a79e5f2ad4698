import { CofferError } from "./errors.ts";
import { dataOf } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";

export interface AuditFilter {
  from?: string | undefined;
  to?: string | undefined;
  action?: string | undefined;
  actor_id?: string | undefined;
  outcome?: string | undefined;
  order?: "asc" | "desc" | undefined;
  /** Records in a page. Default 1000, the most. */
  limit?: number | undefined;
}

/** The last record of a chain. */
export interface AuditHead {
  seq: number;
  hash: string;
}

export interface AuditPage {
  records: unknown[];
  /** The end of the whole chain by the service's word, whatever was selected; null before the first record. */
  head: AuditHead | null;
}

/**
 * All audit records that the filter lets through, page by page, oldest first unless `order` turns it.
 * Throws CofferError `bad_answer` when a page is not one.
 */
export async function* auditPages(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  filter: AuditFilter = {},
): AsyncGenerator<AuditPage, void> {
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: 1000, ...filter, cursor };
    const answer = await send({ method: "GET", path: "/api/org/audit", query });
    const { head, next_cursor: next } = answer.body as { head?: unknown; next_cursor?: unknown };
    if (head !== null && !isHead(head)) throw new CofferError("bad_answer", "the audit does not say where it ends");
    yield { records: dataOf(answer), head };
    if (next === null || next === undefined) return;
    if (typeof next !== "string" || next === cursor) throw new CofferError("bad_answer", "the audit pages do not end");
    cursor = next;
  }
}

function isHead(value: unknown): value is AuditHead {
  if (typeof value !== "object" || value === null) return false;
  const { seq, hash } = value as Record<string, unknown>; // both are looked at
  return typeof seq === "number" && typeof hash === "string";
}
