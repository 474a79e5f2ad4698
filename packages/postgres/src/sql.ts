import { createSqlTag } from "slonik";
import type { CommonQueryMethods, DatabaseTransactionConnection } from "slonik";
import { z } from "zod";

/**
 * The SQL tag: `sql.type(rowSchema)` for a statement that returns rows, each of which is checked,
 * `sql.typeAlias("void")` for one that returns none, `sql.fragment` for a part of one.
 */
export const sql = createSqlTag({ typeAliases: { void: z.strictObject({}) } });

/** Whatever a statement can be run on: the pool, or a transaction. */
export type Queryable = Pick<
  CommonQueryMethods,
  | "any"
  | "anyFirst"
  | "exists"
  | "many"
  | "manyFirst"
  | "maybeOne"
  | "maybeOneFirst"
  | "one"
  | "oneFirst"
  | "query"
  | "record"
>;

/** A transaction that is under way; `transaction.transaction(…)` is a savepoint in it. */
export type Transaction = DatabaseTransactionConnection;
