import { AsyncLocalStorage } from "node:async_hooks";

export interface GroupCommitOptions<Item> {
  /** Makes all items durable in one go, or throws and makes none so. */
  write: (items: Item[]) => Promise<void>;
  /** At most so many items in one write; 1,000 unless told. */
  most?: number;
}

interface Waiter<Item> {
  item: Item;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * One write for all that wait: the first item is written at once, with what arrives in the same turn of the event loop,
 * and everything that arrives while a write is under way goes with the next. The returned function resolves when its
 * item is durable, and rejects with the reason when the write it went with failed; a later item is not affected.
 */
export function createGroupCommit<Item>({
  write,
  most = 1_000,
}: GroupCommitOptions<Item>): (item: Item) => Promise<void> {
  const waiting: Waiter<Item>[] = [];
  let writing = false;
  // A write belongs to all of its callers: it runs in the context of none, such as that of a transaction or a trace.
  const inNoContext = AsyncLocalStorage.snapshot();

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most);
      try {
        await write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    writing = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (writing) return;
      writing = true;
      // At the end of this turn of the event loop: what arrives in the same turn goes with it.
      setImmediate(() => void inNoContext(writeAll));
    });
}
