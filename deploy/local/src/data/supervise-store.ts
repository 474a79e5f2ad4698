import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@coffer/stores";

export interface SupervisedStore {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface SuperviseOptions {
  name: string;
  /** Starts the store; restarts use the port of the first start, so that its address stays. */
  start: (port: number | undefined) => Promise<Store>;
  report: (line: string) => void;
  /** Called after each restart. */
  onRestart: () => void;
}

const retryMilliseconds = 500;

/**
 * Starts a store and restarts it whenever it dies, until `stop`. Throws StoreError if the first
 * start fails.
 */
export async function superviseStore({ name, start, report, onRestart }: SuperviseOptions): Promise<SupervisedStore> {
  let store = await start(undefined);
  const { url, port } = store;
  const stopping = new AbortController();
  let reviving: Promise<void> = Promise.resolve();

  async function revive(): Promise<void> {
    report(`${name} is gone; starting it again`);
    let reason = "";
    while (!stopping.signal.aborted) {
      try {
        store = await start(port);
        watch();
        report(`${name} runs again`);
        onRestart();
        return;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        // A repeated reason is logged once.
        if (message !== reason) report(message);
        reason = message;
        await pause(retryMilliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }
  function watch(): void {
    store.onExit(() => {
      if (!stopping.signal.aborted) reviving = revive();
    });
  }
  watch();
  return {
    url,
    get pid() {
      return store.pid;
    },
    stop: async () => {
      stopping.abort();
      await reviving;
      await store.stop();
    },
  };
}
