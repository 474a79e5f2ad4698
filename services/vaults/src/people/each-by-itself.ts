import { isHeldUp, isUnavailable } from "@coffer/postgres";

/**
 * Keeps all at once, or each by itself when that fails: what cannot be kept of one keeps back nobody else's.
 * @throws whatever the first of them failed with, when the others are kept, or are not tried since Postgres is away
 */
export async function eachByItself<Item>(
  items: readonly Item[],
  keep: (items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await keep(items);
    return;
  } catch (error) {
    if (items.length === 1 || isAway(error)) throw error;
  }
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await keep([item]);
    } catch (error) {
      if (isAway(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Whether it concerns all of them: what one of them waits for does not. */
function isAway(error: unknown): boolean {
  return isUnavailable(error) && !isHeldUp(error);
}
