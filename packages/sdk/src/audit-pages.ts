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

/** All audit records that the filter lets through, page by page, oldest first unless `order` turns it. */
export async function* auditPages(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  filter: AuditFilter = {},
): AsyncGenerator<unknown[], void> {
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: 1000, ...filter, cursor };
    const answer = await send({ method: "GET", path: "/api/org/audit", query });
    yield dataOf(answer);
    const next = (answer.body as { next_cursor?: unknown }).next_cursor;
    if (next === null || next === undefined) return;
    if (typeof next !== "string" || next === cursor) throw new CofferError("bad_answer", "the audit pages do not end");
    cursor = next;
  }
}
