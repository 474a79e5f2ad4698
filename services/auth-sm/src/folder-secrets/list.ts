import type { Call, NotModified, Streamed, Tagged } from "@coffer/http";
import { notModified } from "@coffer/http";
import type { ReadableFolder } from "../access/readable-folder.ts";
import { readableFolder } from "../access/readable-folder.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { ListPart } from "../secrets/answer-list.ts";
import { answerList } from "../secrets/answer-list.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { filterOf } from "../secrets/filter.ts";
import { listCursor, placeInList } from "../secrets/positions.ts";
import { listedMetadata, listedSecret } from "../secrets/view.ts";
import { listSecrets, restOfList } from "../store/secret-lists.ts";
import type { ListedSecret, Part } from "../store/secret-parts.ts";
import { readNamed } from "../store/secret-rests.ts";
import type { AskingPerson } from "../store/secret-scopes.ts";
import { personScope } from "../store/secret-scopes.ts";
import { tagFor } from "./tag.ts";

type ListCall = Call<User, { id: string }, undefined, Omit<ListQuery, "folder_id">>;

/** GET /api/org/folders/{id}/secrets */
export async function listFolderSecrets(deps: Deps, call: ListCall): Promise<Tagged | Streamed | NotModified> {
  const { caller, params, query, held } = call;
  const { pool } = deps.database;
  const { limit } = query;
  const wanted = { filter: filterOf(query), after: placeInList(query.cursor), limit };

  const scope = () => personScope({ ...caller, now: deps.now() }, params.id);
  const found = await listSecrets(pool, scope(), wanted);
  const { folder, ...first } = personPart(deps, call, found);
  const tag = tagFor(folder, found.digest ?? "");
  if (held.includes(tag)) return notModified(tag);
  return answerList(tag, first, {
    limit,
    cursor: listCursor,
    find: (after, left) => restOfList(pool, scope(), { ...wanted, after, limit: left }),
    read: async (uids) => personPart(deps, call, await readNamed(pool, scope(), { orgId: folder.orgId, uids })),
  });
}

/** A part of the list for the person who asked for it. Throws when they may not have it. */
function personPart(
  deps: Deps,
  { caller, params, request }: ListCall,
  part: Part<AskingPerson, ListedSecret>,
): ListPart & { folder: ReadableFolder } {
  const folder = readableFolder(caller, params.id, part.caller);
  return {
    folder,
    rows: part.rows,
    more: part.more,
    view: folder.ciphertext ? listedSecret : listedMetadata,
    record: (count, reason) =>
      deps.audit(
        auditOf(deps, request, {
          org_id: folder.orgId,
          action: "secret.listed",
          actor: folder.actor,
          target: { type: "folder", id: folder.folderId },
          status: 200,
          count,
          ...(reason && { reason }),
        }),
      ),
  };
}
