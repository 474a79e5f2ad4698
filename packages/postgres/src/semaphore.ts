import { ServiceError } from "@coffer/errors";

/** A semaphore with a bounded wait. */
export interface Semaphore {
  /** Runs `work` in a free slot. Throws ServiceError `unavailable` if there is none in time. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Refuses new callers. Resolves when the last caller has left. */
  close(): Promise<void>;
  readonly inUse: number;
  readonly waiting: number;
}

interface Waiter {
  enter: () => void;
}

/** At most `size` callers at a time; others wait in order, at most `waitMilliseconds`. */
export function createSemaphore(size: number, waitMilliseconds: number): Semaphore {
  const waiters = new Set<Waiter>();
  const empty = Promise.withResolvers<undefined>();
  let inUse = 0;
  let closed = false;

  const enter = (): Promise<void> | undefined => {
    if (closed) throw new ServiceError("unavailable", "the service is shutting down", { retryAfterSeconds: 1 });
    if (inUse < size) {
      inUse += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(waiter);
        reject(
          new ServiceError("unavailable", "too many requests wait for the database; try again", {
            retryAfterSeconds: 1,
          }),
        );
      }, waitMilliseconds);
      const waiter = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      waiters.add(waiter);
    });
  };

  /** Hands the slot to the next waiter, or frees it. */
  const leave = () => {
    const [next] = waiters;
    if (next === undefined) {
      inUse -= 1;
      if (closed && inUse === 0) empty.resolve(undefined);
      return;
    }
    waiters.delete(next);
    next.enter();
  };

  return {
    async run(work) {
      const admitted = enter();
      if (admitted !== undefined) await admitted;
      try {
        return await work();
      } finally {
        leave();
      }
    },
    async close() {
      closed = true;
      if (inUse > 0) await empty.promise;
    },
    get inUse() {
      return inUse;
    },
    get waiting() {
      return waiters.size;
    },
  };
}
