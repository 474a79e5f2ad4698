import { sqlStateOf } from "./failure.ts";
import type { Prepared } from "./prepared.ts";

/**
 * SQL, an expression: from where it is evaluated the statement waits for no lock longer than this. For a prepared write of
 * what was judged before it: after a longer wait the judgement is too old, and what shares its connection waits too.
 */
export const briefWaits = "set_config('lock_timeout', '250ms', true)";

/** A prepared write that has `briefWaits` in its text: when it has waited in vain, it has written nothing and returns no row. */
export function briefly<Row>(write: Prepared<Row>): Prepared<Row> {
  return async (values) => {
    try {
      return await write(values);
    } catch (error) {
      if (sqlStateOf(error) === "55P03") return [];
      throw error;
    }
  };
}
