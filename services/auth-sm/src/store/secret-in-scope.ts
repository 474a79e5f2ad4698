import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Scope } from "./secret-parts.ts";
import type { SecretRow } from "./secrets.ts";
import { secretColumns, secretRow } from "./secrets.ts";

const caller = z.unknown();
const fields = z.record(z.string(), z.string()).optional();
const askedSecret = z.union([secretRow.extend({ caller, fields }), z.object({ caller, uid: z.null() })]);

/** A secret; its single fields only where the caller requested them. */
export type ReadSecret = SecretRow & { fields?: Record<string, string> | undefined };

/** One secret of the folders, or null, and in the same statement who the caller is: null when there is no such caller. */
export async function findSecret<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { uid, withFields }: { uid: string; withFields: boolean },
): Promise<{ caller: Caller; secret: ReadSecret | null } | null> {
  const columns = withFields ? sql.fragment`${secretColumns}, fields` : secretColumns;
  const row = await db.maybeOne(sql.type(askedSecret)`
    WITH caller AS (SELECT to_json(c) AS caller FROM (${scope.caller}) c),
    secret AS (SELECT ${columns} FROM secrets WHERE folder_id IN (${scope.folders}) AND uid = ${uid})
    SELECT caller, secret.* FROM caller LEFT JOIN secret ON true
  `);
  if (row === null) return null;
  return { caller: scope.schema.parse(row.caller), secret: row.uid === null ? null : row };
}
