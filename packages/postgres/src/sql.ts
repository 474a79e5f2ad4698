import { type CommonQueryMethods, createSqlTag, type DatabaseTransactionConnection } from "slonik";
import { z } from "zod";

/**
 * The SQL tag: `sql.type(rowSchema)` for a statement with checked rows, `sql.typeAlias("void")` for
 * one without rows, `sql.fragment` for a part.
 */
export const sql = createSqlTag({ typeAliases: { void: z.strictObject({}) } });

/** The pool, or a transaction. */
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

/** A running transaction; `transaction.transaction(…)` is a savepoint in it. */
export type Transaction = DatabaseTransactionConnection;

/** A part of a statement, with its values. */
export type Fragment = ReturnType<typeof sql.fragment>;
