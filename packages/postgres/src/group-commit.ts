import { createGrouped } from "./grouped.ts";

export interface GroupCommitOptions<Item> {
  /** Commits all items, or throws and commits none. */
  write: (items: Item[]) => Promise<void>;
  /** The most items of a write. Default: 1,000. */
  most?: number;
}

/**
 * Group commit (`createGrouped`), one write at a time. The returned function resolves when its item
 * is durable, and rejects if its write failed.
 */
export function createGroupCommit<Item>({
  write,
  ...options
}: GroupCommitOptions<Item>): (item: Item) => Promise<void> {
  return createGrouped<Item, undefined>({
    ...options,
    run: async (items) => {
      await write(items);
      return items.map(() => undefined);
    },
  });
}
