import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { expiredAt, type Scope } from "./secret-batches.ts";
import { secretColumns, type SecretRow, secretRow } from "./secrets.ts";
import { type Unchecked, unchecked } from "../unchecked.ts";

const caller = z.unknown();
const fields = z.record(z.string(), z.string()).optional();
const expired = z.boolean();
const secretOrNone = z.union([secretRow.extend({ caller, expired, fields }), z.object({ caller, uid: z.null() })]);

/** A secret, with its encrypted fields if the caller requested them. */
export type ReadSecret = SecretRow & { expired: boolean; fields?: Record<string, string> | undefined };

/**
 * One secret of the folders, or null, with the caller's state from the same statement. Null when
 * there is no such caller.
 */
export async function findSecret<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { uid, withFields }: { uid: string; withFields: boolean },
): Promise<{ caller: Caller; secret: Unchecked<ReadSecret | null> } | null> {
  const fields = withFields ? sql.fragment`, fields` : sql.fragment``;
  const row = await db.maybeOne(sql.type(secretOrNone)`
    WITH caller AS (SELECT to_json(c) AS caller FROM (${scope.caller}) c),
    secret AS (
      SELECT ${secretColumns}, ${expiredAt(scope.now)} AS expired ${fields}
      FROM secrets WHERE folder_id IN (${scope.folders}) AND uid = ${uid} ${scope.existing}
    )
    SELECT caller, secret.* FROM caller LEFT JOIN secret ON true
  `);
  if (row === null) return null;
  return { caller: scope.schema.parse(row.caller), secret: unchecked(row.uid === null ? null : row) };
}
