import { type AuditedCall, type NotModified, notModified, type Streamed, type Tagged } from "@coffer/http";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { answerList } from "../secrets/answer-list.ts";
import type { SearchQuery } from "../secrets/bodies.ts";
import { filterOf } from "../secrets/filter.ts";
import { searchPosition, searchCursor } from "../secrets/positions.ts";
import { readNamed } from "../store/secrets/secret-rests.ts";
import { machineScope } from "../store/secrets/secret-scopes.ts";
import { restOfSearch, searchSecrets } from "../store/secrets/secret-search.ts";
import { machineBatch } from "./machine-batch.ts";

/** GET /api/sm/v1/secrets/search */
export async function searchVisibleSecrets(
  deps: Deps,
  call: AuditedCall<Machine, unknown, undefined, SearchQuery>,
): Promise<Tagged | Streamed | NotModified> {
  const { caller, query, held } = call;
  const { pool } = deps.database;
  const { title: words, limit } = query;
  const wanted = { words, filter: filterOf(query), after: searchPosition(query.cursor), limit };

  const scope = () => machineScope(callingClientOf(deps, caller), query.folder_id);
  const found = await searchSecrets(pool, scope(), wanted);
  const first = machineBatch(deps, call, found);
  const tag = found.digest ?? "";
  if (held.includes(tag)) return notModified(tag);
  return answerList(tag, first, {
    limit,
    cursor: searchCursor,
    find: (after, left) => restOfSearch(pool, scope(), { ...wanted, after, limit: left }),
    read: async (uids) => machineBatch(deps, call, await readNamed(pool, scope(), { orgId: first.orgId, uids })),
  });
}
