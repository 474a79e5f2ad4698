/** Lets so many pieces of work run at a time; the others wait, first come, first served. */
export function createTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Whoever waits takes over the place as it is.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** The same for each key by itself: who keeps others waiting keeps only those of the same key waiting. */
export function createTurnsByKey(most: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const byKey = new Map<string, { turns: ReturnType<typeof createTurns>; count: number }>();
  return async (key, work) => {
    const place = byKey.get(key) ?? { turns: createTurns(most), count: 0 };
    byKey.set(key, place);
    place.count += 1;
    try {
      return await place.turns(work);
    } finally {
      place.count -= 1;
      if (place.count === 0) byKey.delete(key);
    }
  };
}
