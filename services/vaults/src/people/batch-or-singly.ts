import { isHeldUp, isUnavailable } from "@coffer/postgres";

/**
 * Stores all items at once, or one by one if that fails, so that a bad item does not block the
 * others.
 * @throws the first failure, after the other items were tried; at once if Postgres is away
 */
export async function batchOrSingly<Item>(
  items: readonly Item[],
  store: (items: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await store(items);
    return;
  } catch (error) {
    if (items.length === 1 || isAway(error)) throw error;
  }
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await store([item]);
    } catch (error) {
      if (isAway(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Whether the failure concerns every item; a lock timeout concerns one. */
function isAway(error: unknown): boolean {
  return isUnavailable(error) && !isHeldUp(error);
}
