import { retryOnConflict } from "@coffer/service";

const busy = "this secret or its folder keeps changing; try again";

/**
 * Repeats authorization and write of a secret until a write finds everything unchanged since its
 * authorization.
 * @param attempt returns null when nothing was written because something has changed
 * @throws ServiceError `unavailable` after 5 s of conflicts, and what `attempt` throws
 */
export function retrySecretConflicts<Result>(attempt: () => Promise<Result | null>): Promise<Result> {
  return retryOnConflict(attempt, busy);
}
