/** Work that a shutdown waits for. */
export interface InFlight {
  /** Counts the work until it settles. Returns the same promise. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is running any more, or after the limit. */
  settled(limitMilliseconds: number): Promise<void>;
}

/** An empty set of work. */
export function inFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track: (work) => {
      works.add(work);
      const forget = (): void => void works.delete(work);
      work.then(forget, forget);
      return work;
    },
    settled: async (limitMilliseconds) => {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<"late">((resolve) => {
        timer = setTimeout(resolve, limitMilliseconds, "late");
      });
      while (works.size > 0) if ((await Promise.race([Promise.allSettled(works), limit])) === "late") break;
      clearTimeout(timer);
    },
  };
}
