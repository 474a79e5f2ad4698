const checkMilliseconds = 5_000;

export interface IdleLock {
  /** Starts to count. */
  start(): void;
  /** A key or a click. Too late, it locks as well. */
  touch(): void;
  stop(): void;
}

export interface Clocks {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that no one sets. */
  running(): number;
}

/**
 * Calls `lock` after that time without a touch, in milliseconds, by default 15 minutes, and stops. Timers and the running clock may stop while
 * the machine sleeps, and the machine's clock may be set back. The clock that has counted more decides.
 */
export function idleLock(
  lock: () => void,
  idleMilliseconds: () => number = () => 15 * 60_000,
  clocks: Clocks = { now: () => Date.now(), running: () => performance.now() },
): IdleLock {
  let timer: ReturnType<typeof setInterval> | undefined;
  let last = { now: 0, running: 0 };

  const mark = (): void => {
    last = { now: clocks.now(), running: clocks.running() };
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const check = (): void => {
    if (Math.max(clocks.now() - last.now, clocks.running() - last.running) < idleMilliseconds()) return;
    stop();
    lock();
  };
  return {
    start() {
      stop();
      mark();
      timer = setInterval(check, checkMilliseconds);
    },
    touch() {
      if (timer !== undefined) check();
      mark();
    },
    stop,
  };
}
