import { waitedInVain } from "./failure.ts";

/**
 * SQL, an expression: from where it is evaluated the statement waits for no lock longer than this. For a prepared write of
 * what was judged before it: after a longer wait the judgement is too old, and what shares its connection waits too.
 */
export const briefWaits = "set_config('lock_timeout', '250ms', true)";

/**
 * A prepared write that has `briefWaits` in its text: when it has waited in vain, it has written nothing, and its answer is
 * `nothing`.
 */
export function briefly<Answer>(
  write: (values: unknown[]) => Promise<Answer>,
  nothing: Answer,
): (values: unknown[]) => Promise<Answer> {
  return async (values) => {
    try {
      return await write(values);
    } catch (error) {
      if (waitedInVain(error)) return nothing;
      throw error;
    }
  };
}
