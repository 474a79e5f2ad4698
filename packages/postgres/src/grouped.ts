import { AsyncLocalStorage } from "node:async_hooks";

export interface GroupedOptions<Item, Result> {
  /** Processes a batch and returns a result for each item, in order; or throws for all of them. */
  run: (items: Item[]) => Promise<Result[]>;
  /** The most items of a batch. Default: 1,000. */
  most?: number;
  /** The most concurrent batches. Default: 1. */
  atOnce?: number;
  /** Whether an error also fails all waiting items. Default: never. */
  concernsAll?: (error: unknown) => boolean;
  /**
   * The weight of an item, and the most of a batch; a heavier item runs alone. Default: no weights.
   */
  weight?: { of: (item: Item) => number; most: number };
  /**
   * The most waiting items, and their longest wait; the others fail with `reason`. Default: no
   * limit.
   */
  patience?: { most: number; milliseconds: number; reason: () => Error };
}

/** Resolves to the result of the item, and rejects if its batch failed. */
export interface Grouped<Item, Result> {
  (item: Item): Promise<Result>;
  /** The number of items that no running batch has. */
  waiting(): number;
}

interface Waiter<Item, Result> {
  item: Item;
  since: number;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Batches concurrent calls. The first batch has the items of one event loop turn; items that arrive
 * while `atOnce` batches run form the next.
 */
export function createGrouped<Item, Result>({
  run,
  most = 1_000,
  atOnce = 1,
  concernsAll = () => false,
  weight,
  patience,
}: GroupedOptions<Item, Result>): Grouped<Item, Result> {
  const waiting: Waiter<Item, Result>[] = [];
  let underWay = 0;
  let called = false;
  // A batch must not run in the async context (transaction, trace) of one of its callers.
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
        batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        if (concernsAll(error)) batch.push(...waiting.splice(0));
        for (const { reject } of batch) reject(error);
      }
    }
    underWay -= 1;
  };

  const add = (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (patience !== undefined && waiting.length >= patience.most) {
        reject(patience.reason());
        return;
      }
      waiting.push({ item, since: patience === undefined ? 0 : performance.now(), resolve, reject });
      if (called || underWay >= atOnce) return;
      called = true;
      // At the end of this turn, so that its items share the batch.
      setImmediate(() => void inNoContext(runAll));
    });
  return Object.assign(add, { waiting: () => waiting.length });
}
