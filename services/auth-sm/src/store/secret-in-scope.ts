import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Scope } from "./secret-parts.ts";
import type { SecretRow } from "./secrets.ts";
import { secretColumns, secretRow } from "./secrets.ts";

const caller = z.unknown();
const askedSecret = z.union([secretRow.extend({ caller }), z.object({ caller, uid: z.null() })]);

/** One secret of the folders, or null, and in the same statement who the caller is: null when there is no such caller. */
export async function findSecret<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  uid: string,
): Promise<{ caller: Caller; secret: SecretRow | null } | null> {
  const row = await db.maybeOne(sql.type(askedSecret)`
    WITH caller AS (SELECT to_json(c) AS caller FROM (${scope.caller}) c),
    secret AS (SELECT ${secretColumns} FROM secrets WHERE folder_id IN (${scope.folders}) AND uid = ${uid})
    SELECT caller, secret.* FROM caller LEFT JOIN secret ON true
  `);
  if (row === null) return null;
  return { caller: scope.schema.parse(row.caller), secret: row.uid === null ? null : row };
}
