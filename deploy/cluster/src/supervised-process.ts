import { setTimeout as pause } from "node:timers/promises";

/** One run of a process. */
export interface Life {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
}

export interface SupervisedProcess {
  /** The id of its present run. */
  readonly pid: number;
  /** Stops it in order; kills it after `seconds`. */
  stop(seconds: number): Promise<void>;
}

export interface SuperviseOptions {
  name: string;
  start: () => Life;
  report: (line: string) => void;
  /** Called after each restart. */
  onRestart: () => void;
}

const quickMilliseconds = 10_000;
const longestPauseMilliseconds = 10_000;

/** Starts a process, and restarts it when it ends: at once, or after growing pauses if it ends soon. */
export function superviseProcess({ name, start, report, onRestart }: SuperviseOptions): SupervisedProcess {
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let life = start();
  const supervised = (async () => {
    let pauseMilliseconds = 0;
    for (;;) {
      const began = performance.now();
      await life.exited;
      if (isStopping()) return;
      report(`${name} is gone; starting it again`);
      const isQuick = performance.now() - began < quickMilliseconds;
      await pause(isQuick ? pauseMilliseconds : 0, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      pauseMilliseconds = isQuick ? Math.min(longestPauseMilliseconds, pauseMilliseconds * 2 + 500) : 0;
      life = start();
      onRestart();
    }
  })();
  return {
    get pid() {
      return life.pid;
    },
    async stop(seconds) {
      stopping.abort();
      life.signal("SIGTERM");
      const cut = setTimeout(() => life.signal("SIGKILL"), seconds * 1000);
      await supervised;
      clearTimeout(cut);
    },
  };
}
