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
  /** How much of a go an item is, and how much a go may be: a heavier item goes alone. Unless told nothing has a weight. */
  weight?: { of: (item: Item) => number; most: number };
  /** How many may wait, and for how long until their go begins; the others fail with the reason. Unless told, all wait. */
  patience?: { most: number; milliseconds: number; reason: () => Error };
}

interface Waiter<Item, Result> {
  item: Item;
  since: number;
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
  weight,
  patience,
}: GroupedOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiter<Item, Result>[] = [];
  let underWay = 0;
  let called = false;
  // A go belongs to all of its callers: it runs in the context of none, such as that of a transaction or a trace.
  const inNoContext = AsyncLocalStorage.snapshot();

  const take = (): Waiter<Item, Result>[] => {
    const batch: Waiter<Item, Result>[] = [];
    const tooEarly = patience === undefined ? 0 : performance.now() - patience.milliseconds;
    let heavy = 0;
    for (let next = waiting[0]; next !== undefined && batch.length < most; next = waiting[0]) {
      if (patience !== undefined && next.since < tooEarly) next.reject(patience.reason());
      else {
        heavy += weight?.of(next.item) ?? 0;
        if (batch.length > 0 && weight !== undefined && heavy > weight.most) break;
        batch.push(next);
      }
      waiting.shift();
    }
    return batch;
  };

  const runAll = async (): Promise<void> => {
    called = false;
    underWay += 1;
    while (waiting.length > 0) {
      const batch = take();
      if (batch.length === 0) break;
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
      if (patience !== undefined && waiting.length >= patience.most) {
        reject(patience.reason());
        return;
      }
      waiting.push({ item, since: patience === undefined ? 0 : performance.now(), resolve, reject });
      if (called || underWay >= atOnce) return;
      called = true;
      // At the end of this turn of the event loop: what arrives in the same turn goes with it.
      setImmediate(() => void inNoContext(runAll));
    });
}
