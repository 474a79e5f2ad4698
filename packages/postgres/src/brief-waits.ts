import { isLockTimeout } from "./failure.ts";

/**
 * SQL expression that sets the lock timeout of the statement to 250 ms. For a prepared write with
 * an optimistic check: after a longer wait the check is stale, and writes behind it on the
 * connection wait.
 */
export const briefWaits = "set_config('lock_timeout', '250ms', true)";

/** A prepared write with `briefWaits` in its text; returns `nothing` after a lock timeout. */
export function briefly<Answer>(
  write: (values: unknown[]) => Promise<Answer>,
  nothing: Answer,
): (values: unknown[]) => Promise<Answer> {
  return async (values) => {
    try {
      return await write(values);
    } catch (error) {
      if (isLockTimeout(error)) return nothing;
      throw error;
    }
  };
}
