import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";

export interface AuditFilter {
  from?: string | undefined;
  to?: string | undefined;
  action?: string | undefined;
  actor_id?: string | undefined;
  outcome?: string | undefined;
  /** Only records with a greater `seq`. */
  after?: number | undefined;
  order?: "asc" | "desc" | undefined;
  /** Records in a page. Default 1000, the maximum. */
  limit?: number | undefined;
}

/** The last record of a chain. */
export interface AuditHead {
  seq: number;
  hash: string;
}

export interface AuditPage {
  records: unknown[];
  /**
   * The end of the whole chain as the service states it, whatever the filter; null before the first
   * record.
   */
  head: AuditHead | null;
}

/**
 * All audit records of the filter, page by page, oldest first unless `order` says otherwise. Throws
 * CofferError `bad_answer` for a malformed page, and for pages without end: one without a record that names a next
 * one, or a cursor that was named before.
 */
export async function* auditPages(send: Send, filter: AuditFilter = {}): AsyncGenerator<AuditPage, void> {
  const cursors = new Set<unknown>();
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: 1000, ...filter, cursor };
    const answer = await send({ method: "GET", path: "/api/org/audit", query });
    const { head, next_cursor: next } = answer.body as { head?: unknown; next_cursor?: unknown };
    if (head !== null && !isHead(head)) throw new CofferError("bad_answer", "the audit does not say where it ends");
    const records = dataOf(answer);
    yield { records, head };
    if (next === null || next === undefined) return;
    if (typeof next !== "string" || records.length === 0 || cursors.has(next))
      throw new CofferError("bad_answer", "the audit pages do not end");
    cursors.add(next);
    cursor = next;
  }
}

function isHead(value: unknown): value is AuditHead {
  if (typeof value !== "object" || value === null) return false;
  const { seq, hash } = value as Record<string, unknown>; // both are looked at
  return typeof seq === "number" && typeof hash === "string";
}
