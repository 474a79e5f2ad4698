import { decodeCursor, encodeCursor, notModified, streamed, tagged, uuidText } from "@coffer/http";
import type { Call, NotModified, Streamed, Tagged } from "@coffer/http";
import type { User } from "@coffer/service";
import { auditOf } from "@coffer/service";
import { z } from "zod";
import { usableVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { cursorAfter, listText } from "../lists/list-text.ts";
import type { Part } from "../lists/list-text.ts";
import type { RecordPart, RecordQuery } from "../store/record-lists.ts";
import { listRecords } from "../store/record-lists.ts";
import type { RecordRow } from "../store/records.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { RecordListQuery } from "./bodies.ts";
import { recordView } from "./view.ts";

type ListCall = Call<User, VaultPath, undefined, RecordListQuery>;

const place = z.object({ id: uuidText });
const cursor = ({ id }: RecordRow): string => encodeCursor({ id });

/**
 * GET /api/vaults/{id}/records, in order of id. What is longer than a part goes out part by part, each judged and on record
 * before it leaves (docs/adr/0011).
 */
export async function listVaultRecords(deps: Deps, call: ListCall): Promise<Tagged | Streamed | NotModified> {
  const { query, held } = call;
  const { limit } = query;
  const wanted: RecordQuery = {
    type: query.type,
    updatedSince: query.updated_since,
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, place).id,
    limit,
  };
  const first = await readPart(deps, call, wanted, { whole: limit === undefined });
  const tag = first.digest;
  if (held.includes(tag)) return notModified(tag);
  const last = first.rows.at(-1);
  if (!first.more || last === undefined || first.rows.length === limit) {
    await first.record();
    const data = first.rows.map(recordView);
    return tagged(tag, limit === undefined ? { data } : { data, next_cursor: cursorAfter(first, { cursor }) });
  }
  await first.record("part");
  // What is made from now on is not waited for: the list would have no end while others write.
  const until = first.end ?? undefined;
  const next = (after: RecordRow, left: number | undefined) =>
    readPart(deps, call, { ...wanted, until, after: after.id, limit: left });
  return streamed(tag, listText([first], { view: recordView, cursor, next, limit }));
}

/** A part that the caller may have, and how it is put on record. */
type JudgedPart = RecordPart & Part<RecordRow>;

/** Reads a part and judges in the same breath. Throws what `usableVault` throws. */
async function readPart(
  deps: Deps,
  { caller, params, request }: ListCall,
  wanted: RecordQuery,
  { whole } = { whole: false },
): Promise<JudgedPart> {
  const part = await listRecords(deps.database.pool, { userId: caller.userId, vaultId: params.id }, wanted, { whole });
  const { id, orgId, actor } = usableVault(caller, part.access, "read");
  const record = (reason?: "part"): Promise<void> =>
    deps.audit(
      auditOf(deps, request, {
        org_id: orgId,
        action: "record.listed",
        actor,
        target: { type: "vault", id },
        status: 200,
        count: part.rows.length,
        ...(reason && { reason }),
      }),
    );
  return { ...part, record };
}
