import type { Call, NotModified, Streamed, Tagged } from "@coffer/http";
import { notModified } from "@coffer/http";
import type { Machine } from "../callers/machine.ts";
import { askerOf } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { answerList } from "../secrets/answer-list.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { filterOf } from "../secrets/filter.ts";
import { listCursor, placeInList } from "../secrets/positions.ts";
import { listSecrets, restOfList } from "../store/secret-lists.ts";
import { readNamed } from "../store/secret-rests.ts";
import { machineScope } from "../store/secret-scopes.ts";
import { askingClient } from "./asking-client.ts";
import { machinePart } from "./machine-part.ts";

/**
 * GET /api/sm/v1/secrets
 * The whole list is tagged by a digest of all that the client can see, which one small statement has for a poller; a
 * page by what it holds, since a digest of very many secrets would cost more than the page.
 */
export async function listVisibleSecrets(
  deps: Deps,
  call: Call<Machine, unknown, undefined, ListQuery>,
): Promise<Tagged | Streamed | NotModified> {
  const { caller, query, held } = call;
  const { pool } = deps.database;
  const { limit } = query;
  const wanted = { filter: filterOf(query), after: placeInList(query.cursor), limit };
  if (limit === undefined && held.length > 0) {
    const { client } = askingClient(caller, await deps.reads.digest(askerOf(deps, caller), query.folder_id));
    if (held.includes(client.digest)) return notModified(client.digest);
  }
  const scope = () => machineScope(askerOf(deps, caller), query.folder_id);
  const found = await listSecrets(pool, scope(), wanted);
  const first = machinePart(deps, call, "secret.listed", found);
  const tag = found.digest ?? "";
  if (held.includes(tag)) return notModified(tag);
  return answerList(tag, first, {
    limit,
    cursor: listCursor,
    find: (after, left) => restOfList(pool, scope(), { ...wanted, after, limit: left }),
    read: async (uids) =>
      machinePart(deps, call, "secret.listed", await readNamed(pool, scope(), { orgId: first.orgId, uids })),
  });
}
