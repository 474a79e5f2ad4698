import { ServiceError } from "@coffer/errors";

/** Lets a bounded number of callers through at once; the others wait their turn for a bounded time. */
export interface Gate {
  /** Runs `work` when there is room. Throws ServiceError `unavailable` when none came in time. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Lets nobody in any more. Resolves when the last one has left. */
  close(): Promise<void>;
  readonly inUse: number;
  readonly waiting: number;
}

interface Waiter {
  enter: () => void;
}

/** `size` callers at once; a caller waits at most `waitMilliseconds`, first come first served. */
export function createGate(size: number, waitMilliseconds: number): Gate {
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

  /** The room goes to the one that waits longest, or is free again. */
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
      const turn = enter();
      if (turn !== undefined) await turn;
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
