/** The limits of one request. */
export interface BatchLimits<Item> {
  items: number;
  size: number;
  sizeOf: (item: Item) => number;
}

/** Splits items into batches that one request accepts. An item over the size is its own batch. */
export function batchesOf<Item>(all: readonly Item[], { items, size, sizeOf }: BatchLimits<Item>): Item[][] {
  const batches: Item[][] = [];
  let total = 0;
  for (const item of all) {
    const last = batches.at(-1);
    const own = sizeOf(item);
    if (last === undefined || last.length >= items || total + own > size) {
      batches.push([item]);
      total = own;
    } else {
      last.push(item);
      total += own;
    }
  }
  return batches;
}
