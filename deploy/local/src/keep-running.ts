import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@coffer/stores";

export interface KeptStore {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface KeepOptions {
  name: string;
  /** Starts the store; from the second time on with the port of the first, so that its address stays. */
  start: (port: number | undefined) => Promise<Store>;
  report: (line: string) => void;
  /** Told after each new start. */
  onRestart: () => void;
}

const retryMilliseconds = 500;

/** Starts a store and starts it again whenever it dies, until `stop`. Throws StoreError when the first start fails. */
export async function keepRunning({ name, start, report, onRestart }: KeepOptions): Promise<KeptStore> {
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
        // The same reason twice a second is said once.
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
