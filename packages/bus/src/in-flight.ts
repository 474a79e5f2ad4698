/** Running work that a shutdown waits for. */
export interface InFlight {
  /** Counts the work until it ends. Returns the same promise. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is running, or after the limit. */
  drained(limitMilliseconds: number): Promise<void>;
}

export function inFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track: (work) => {
      works.add(work);
      const forget = (): void => void works.delete(work);
      work.then(forget, forget);
      return work;
    },
    drained: async (limitMilliseconds) => {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<"late">((resolve) => {
        timer = setTimeout(resolve, limitMilliseconds, "late");
      });
      while (works.size > 0) if ((await Promise.race([Promise.allSettled(works), limit])) === "late") break;
      clearTimeout(timer);
    },
  };
}
