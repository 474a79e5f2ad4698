import { type AuditedCall, type NotModified, notModified, type Streamed, type Tagged } from "@coffer/http";
import { requireVisibleDigest } from "../access/machine-reads.ts";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { answerList } from "../secrets/answer-list.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { filterOf } from "../secrets/filter.ts";
import { listCursor, listPosition } from "../secrets/positions.ts";
import { listSecrets, restOfList } from "../store/secrets/secret-lists.ts";
import { readNamed } from "../store/secrets/secret-rests.ts";
import { machineScope } from "../store/secrets/secret-scopes.ts";
import { machineBatch } from "./machine-batch.ts";

/**
 * GET /api/sm/v1/secrets
 * The tag of a whole list is a digest of everything that the client can see, which one small
 * statement computes for a poller. The tag of a page covers the page only: a digest of very many
 * secrets would cost more than the page.
 */
export async function listVisibleSecrets(
  deps: Deps,
  call: AuditedCall<Machine, unknown, undefined, ListQuery>,
): Promise<Tagged | Streamed | NotModified> {
  const { caller, query, held } = call;
  const { pool } = deps.database;
  const { limit } = query;
  const wanted = { filter: filterOf(query), after: listPosition(query.cursor), limit };
  if (limit === undefined && held.length > 0) {
    const digest = await requireVisibleDigest(deps, caller, query.folder_id);
    if (held.includes(digest)) return notModified(digest);
  }
  const scope = () => machineScope(callingClientOf(deps, caller), query.folder_id);
  const found = await listSecrets(pool, scope(), wanted);
  const first = machineBatch(deps, call, found);
  const tag = found.digest ?? "";
  if (held.includes(tag)) return notModified(tag);
  return answerList(tag, first, {
    limit,
    cursor: listCursor,
    find: (after, left) => restOfList(pool, scope(), { ...wanted, after, limit: left }),
    read: async (uids) => machineBatch(deps, call, await readNamed(pool, scope(), { orgId: first.orgId, uids })),
  });
}
