import { AsyncLocalStorage } from "node:async_hooks";

export interface GroupedOptions<Item, Result> {
  /** Does the work of all items in one go and returns a result for each, in their order; or throws for all of them. */
  run: (items: Item[]) => Promise<Result[]>;
  /** At most so many items in one go; 1,000 unless told. */
  most?: number;
  /** At most so many goes at the same time; 1 unless told. */
  atOnce?: number;
  /** Whether what a go failed with is a reason for all that wait, who then fail too; for none unless told. */
  concernsAll?: (error: unknown) => boolean;
}

interface Waiter<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * One go for all that wait: the first item goes at once, with what arrives in the same turn of the event loop, and
 * everything that arrives while as many are under way as may be goes with the next. The returned function resolves to
 * the result of its item, and rejects with the reason when the go that it was part of failed; a later item is not
 * affected.
 */
export function createGrouped<Item, Result>({
  run,
  most = 1_000,
  atOnce = 1,
  concernsAll = () => false,
}: GroupedOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiter<Item, Result>[] = [];
  let underWay = 0;
  let called = false;
  // A go belongs to all of its callers: it runs in the context of none, such as that of a transaction or a trace.
  const inNoContext = AsyncLocalStorage.snapshot();

  const runAll = async (): Promise<void> => {
    called = false;
    underWay += 1;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most);
      try {
        const results = await run(batch.map(({ item }) => item));
        // There is one for each.
        batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        if (concernsAll(error)) batch.push(...waiting.splice(0));
        for (const { reject } of batch) reject(error);
      }
    }
    underWay -= 1;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (called || underWay >= atOnce) return;
      called = true;
      // At the end of this turn of the event loop: what arrives in the same turn goes with it.
      setImmediate(() => void inNoContext(runAll));
    });
}
