import { type AuditedCall, notModified, type NotModified, type Streamed, type Tagged } from "@coffer/http";
import { type ReadableFolder, readableInFolder } from "../access/readable-folder.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { answerList, type ListBatch } from "../secrets/answer-list.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { filterOf } from "../secrets/filter.ts";
import { listCursor, listPosition } from "../secrets/positions.ts";
import { listedMetadata, listedSecretForPerson } from "../secrets/view.ts";
import { listSecrets, restOfList } from "../store/secrets/secret-lists.ts";
import type { ListedSecret, Batch } from "../store/secrets/secret-batches.ts";
import { readNamed } from "../store/secrets/secret-rests.ts";
import { personScope, type ScopedPerson } from "../store/secrets/secret-scopes.ts";
import { tagFor } from "./tag.ts";

type ListCall = AuditedCall<User, { id: string }, undefined, Omit<ListQuery, "folder_id">>;

/** GET /api/org/folders/{id}/secrets */
export async function listFolderSecrets(deps: Deps, call: ListCall): Promise<Tagged | Streamed | NotModified> {
  const { caller, params, query, held } = call;
  const { pool } = deps.database;
  const { limit } = query;
  const wanted = { filter: filterOf(query), after: listPosition(query.cursor), limit };

  const scope = () => personScope({ ...caller, now: deps.now() }, params.id);
  const found = await listSecrets(pool, scope(), wanted);
  const { folder, ...first } = personBatch(deps, call, found);
  const tag = tagFor(folder, found.digest ?? "");
  if (held.includes(tag)) return notModified(tag);
  return answerList(tag, first, {
    limit,
    cursor: listCursor,
    find: (after, left) => restOfList(pool, scope(), { ...wanted, after, limit: left }),
    read: async (uids) => personBatch(deps, call, await readNamed(pool, scope(), { orgId: folder.orgId, uids })),
  });
}

/** Authorizes one batch of the list. Throws when the person may not have it. */
function personBatch(
  deps: Deps,
  { caller, params, audit }: ListCall,
  part: Batch<ScopedPerson, ListedSecret>,
): ListBatch & { folder: ReadableFolder } {
  const { folder, rows } = readableInFolder(caller, params.id, part);
  return {
    folder,
    rows,
    more: part.more,
    view: folder.ciphertext ? listedSecretForPerson : listedMetadata,
    record: (count, reason) => deps.audit(audit({ orgId: folder.orgId, actor: folder.actor, count, reason })),
  };
}
