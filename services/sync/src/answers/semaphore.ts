/** A semaphore: at most `most` calls run at a time; the others wait in order. */
export function createSemaphore(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The next waiter takes over the slot.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** A semaphore for each key. */
export function createKeyedSemaphore(most: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const byKey = new Map<string, { semaphore: ReturnType<typeof createSemaphore>; count: number }>();
  return async (key, work) => {
    const entry = byKey.get(key) ?? { semaphore: createSemaphore(most), count: 0 };
    byKey.set(key, entry);
    entry.count += 1;
    try {
      return await entry.semaphore(work);
    } finally {
      entry.count -= 1;
      if (entry.count === 0) byKey.delete(key);
    }
  };
}
