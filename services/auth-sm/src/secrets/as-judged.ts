import { asJudged as judgedAnew } from "@coffer/service";

const busy = "others keep changing this secret or its folder; try again";

/**
 * Judges and writes a secret until a write finds everything as it was judged.
 * @param attempt null when nothing was written because something has changed
 * @throws ServiceError `unavailable` when it went on changing for 5 s, and what `attempt` throws.
 */
export function asJudged<Result>(attempt: () => Promise<Result | null>): Promise<Result> {
  return judgedAnew(attempt, busy);
}
