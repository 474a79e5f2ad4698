import { decodeCursor, encodeCursor, notModified, streamed, tagged, uuidText } from "@coffer/http";
import type { Call, NotModified, Streamed, Tagged } from "@coffer/http";
import type { User } from "@coffer/service";
import { auditOf } from "@coffer/service";
import { z } from "zod";
import { usableVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import type { RecordPart, RecordQuery } from "../store/record-lists.ts";
import { listRecords } from "../store/record-lists.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { RecordListQuery } from "./bodies.ts";
import { partText } from "./part-text.ts";
import { recordView } from "./view.ts";

type ListCall = Call<User, VaultPath, undefined, RecordListQuery>;

const place = z.object({ id: uuidText });

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
    return tagged(tag, limit === undefined ? { data } : { data, next_cursor: cursorAfter(first) });
  }
  await first.record("part");
  // What is made from now on is not waited for: the list would have no end while others write.
  const until = first.end ?? undefined;
  return streamed(
    tag,
    textOf([first], (after, left) => readPart(deps, call, { ...wanted, until, after, limit: left }), limit),
  );
}

/** A part that the caller may have, and how it is put on record. */
interface JudgedPart extends RecordPart {
  /** `reason` is `part` when the answer does not end with it. */
  record(reason?: "part"): Promise<void>;
}

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

/** An answer as JSON text. The first part is taken out of its list: nothing is to hold it once it has been sent. */
async function* textOf(
  first: JudgedPart[],
  next: (after: string, left: number | undefined) => Promise<JudgedPart>,
  limit: number | undefined,
): AsyncGenerator<string> {
  yield '{"data":[';
  let before: "" | "," = "";
  let count = 0;
  let part = first.pop();
  let cursor: string | null = null;
  while (part !== undefined) {
    yield* partText(part.rows, before);
    before = ",";
    count += part.rows.length;
    cursor = cursorAfter(part);
    const last = part.rows.at(-1);
    if (!part.more || last === undefined || count === limit) break;
    part = await next(last.id, limit === undefined ? undefined : limit - count);
    const goesOn = part.more && count + part.rows.length !== limit;
    await part.record(goesOn ? "part" : undefined);
  }
  yield limit === undefined ? "]}" : `],"next_cursor":${JSON.stringify(cursor)}}`;
}

/** Where the list goes on after this part; null when it does not. */
function cursorAfter({ rows, more }: RecordPart): string | null {
  const last = rows.at(-1);
  return more && last !== undefined ? encodeCursor({ id: last.id }) : null;
}
