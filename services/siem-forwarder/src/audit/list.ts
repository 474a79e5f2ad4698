import type { AuditRecord, ChainHead } from "@coffer/events";
import type { Call } from "@coffer/http";
import { decodeCursor, encodeCursor } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { z } from "zod";
import { requireAuditReader } from "../access.ts";
import type { Deps } from "../deps.ts";
import { findHead } from "../store/chains.ts";
import type { Span } from "../store/hours.ts";
import { findSpan } from "../store/hours.ts";
import { hourOf } from "./hour-of.ts";
import type { AuditQuery } from "./list-query.ts";
import { listByPartitions } from "./list-by-partitions.ts";

/** The place after which the next page begins. */
const position = z.strictObject({ after: z.int().positive() });

/** A page of an organization's audit, and the present end of its chain. */
export interface AuditPage {
  data: AuditRecord[];
  next_cursor: string | null;
  /**
   * What the last record of the whole chain must have; null before the first. Shows that the newest
   * were removed.
   */
  head: ChainHead | null;
}

/** GET /api/org/audit */
export async function listAudit(
  deps: Deps,
  { caller, query }: Call<User, unknown, undefined, AuditQuery>,
): Promise<AuditPage> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, position).after;
  const orgId = await requireAuditReader(deps, caller);
  const { pool } = deps.database;
  const head = await findHead(pool, orgId);
  const span = head && (await spanOf(pool, orgId, query, { head, after }));
  if (span === null) return { data: [], next_cursor: null, head };
  // One more record than requested shows whether there is a next page.
  const found = await listByPartitions(pool, {
    chainId: orgId,
    span,
    from: query.from,
    to: query.to,
    action: query.action,
    actorId: query.actor_id,
    outcome: query.outcome,
    order: query.order,
    limit: query.limit + 1,
  });
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  return {
    data: page.map(({ record }) => record),
    next_cursor: found.length > page.length && last !== undefined ? encodeCursor({ after: last.seq }) : null,
    head,
  };
}

/** The range of `seq` that the page can have, up to the known end: later records are on a later page. */
async function spanOf(
  db: Queryable,
  chainId: string,
  { from, to, order, after: behind }: AuditQuery,
  { head, after }: { head: ChainHead; after: number | undefined },
): Promise<Span | null> {
  let { first, last } = { first: 1, last: head.seq };
  if (from !== undefined || to !== undefined) {
    const span = await findSpan(db, chainId, { fromHour: from && hourOf(from), toHour: to && hourOf(to) });
    if (span === null) return null;
    first = span.first;
    last = Math.min(last, span.last);
  }
  if (behind !== undefined) first = Math.max(first, behind + 1);
  if (after !== undefined && order === "asc") first = Math.max(first, after + 1);
  if (after !== undefined && order === "desc") last = Math.min(last, after - 1);
  return first <= last ? { first, last } : null;
}
