import {
  type AuditedCall,
  cursorAfter,
  decodeCursor,
  encodeCursor,
  listText,
  notModified,
  type NotModified,
  type Part,
  streamed,
  type Streamed,
  type Tagged,
  tagged,
  uuidText,
} from "@coffer/http";
import type { User } from "@coffer/service";
import { z } from "zod";
import { usableVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { listRecords, type RecordPart, type RecordQuery } from "../store/records/record-lists.ts";
import type { RecordRow } from "../store/records/records.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { RecordListQuery } from "./bodies.ts";
import { recordView } from "./view.ts";

type ListCall = AuditedCall<User, VaultPath, undefined, RecordListQuery>;

const position = z.object({ id: uuidText });
const cursor = ({ id }: RecordRow): string => encodeCursor({ id });

/**
 * GET /api/vaults/{id}/records, in order of id. A long list is sent in parts, each authorized and
 * audited before it is sent (docs/adr/0011).
 */
export async function listVaultRecords(deps: Deps, call: ListCall): Promise<Tagged | Streamed | NotModified> {
  const { query, held } = call;
  const { limit } = query;
  const wanted: RecordQuery = {
    type: query.type,
    updatedSince: query.updated_since,
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, position).id,
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
  // Ends at the last record of now: while others write, the list would never end.
  const until = first.end ?? undefined;
  const next = (after: RecordRow, left: number | undefined) =>
    readPart(deps, call, { ...wanted, until, after: after.id, limit: left });
  return streamed(tag, listText([first], { view: recordView, cursor, next, limit }));
}

type AuthorizedPart = RecordPart & Required<Part<RecordRow>>;

/** Reads a part and authorizes it by the same snapshot. Throws what `usableVault` throws. */
async function readPart(
  deps: Deps,
  { caller, params, audit }: ListCall,
  wanted: RecordQuery,
  { whole } = { whole: false },
): Promise<AuthorizedPart> {
  const part = await listRecords(deps.database.pool, { userId: caller.userId, vaultId: params.id }, wanted, { whole });
  const { orgId, actor } = usableVault(caller, part.access, "read");
  const record = (reason?: "part"): Promise<void> =>
    deps.audit(audit({ orgId, actor, count: part.rows.length, reason }));
  return { ...part, record };
}
