import { createGrouped } from "./grouped.ts";

export interface GroupCommitOptions<Item> {
  /** Makes all items durable in one go, or throws and makes none so. */
  write: (items: Item[]) => Promise<void>;
  /** At most so many items in one write; 1,000 unless told. */
  most?: number;
}

/**
 * One write for all that wait, one at a time (`createGrouped`). The returned function resolves when its item is durable,
 * and rejects with the reason when the write it went with failed.
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
