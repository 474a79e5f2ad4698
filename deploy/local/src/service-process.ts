import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { logFile } from "./service-log.ts";
import type { ServiceAddress, ServiceRunOptions } from "./service-run.ts";
import { runOnce } from "./service-run.ts";
import { StartupError } from "./startup-error.ts";

export interface ServiceProcess {
  /** Where it answers now, or `null` while it does not. */
  address(): ServiceAddress | null;
  /** Ends it in order; cut after `seconds`. */
  stop(seconds: number): Promise<void>;
}

export interface ServiceProcessOptions extends ServiceRunOptions {
  /** Told whenever the address changes. */
  onChange: () => void;
}

const quickMilliseconds = 5_000;
const stepMilliseconds = 250;
const longestPauseMilliseconds = 1_250;

/**
 * Runs a service as a process of its own and starts it again whenever it dies: at once, and after a pause that grows to
 * 1.25 s while it keeps dying soon after its start. Resolves when it answers. Throws StartupError when its first start
 * fails.
 */
export async function runServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { name, report, onChange } = options;
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let address: ServiceAddress | null = null;
  let run = runOnce(options);

  function set(next: ServiceAddress | null): void {
    address = next;
    onChange();
  }
  async function keepRunning(): Promise<void> {
    let pauseMilliseconds = -stepMilliseconds;
    for (;;) {
      const began = performance.now();
      const how = await run.ended;
      set(null);
      if (isStopping()) return;
      report(`${name} is gone (${how}); starting it again`);
      const quick = performance.now() - began < quickMilliseconds;
      // None after the first death, then longer each time.
      pauseMilliseconds = quick ? Math.min(longestPauseMilliseconds, pauseMilliseconds + stepMilliseconds) : 0;
      await pause(pauseMilliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      run = runOnce(options);
      void run.ready.then((ready) => {
        if (ready === null) return;
        report(`${name} runs again`);
        set(ready);
      });
    }
  }

  address = await run.ready;
  if (address === null) throw new StartupError(`${name} did not start (${await run.ended}): ${lastLine(options)}`);
  const kept = keepRunning();
  return {
    address: () => address,
    stop: async (seconds) => {
      stopping.abort();
      run.signal("SIGTERM");
      const cut = setTimeout(() => run.signal("SIGKILL"), seconds * 1000);
      await kept;
      clearTimeout(cut);
    },
  };
}

function lastLine({ name, dataDirectory }: ServiceProcessOptions): string {
  try {
    const path = logFile(dataDirectory, name);
    return `${readFileSync(path, "utf8").trim().split("\n").at(-1) ?? ""} (${path})`;
  } catch {
    return "it has no log";
  }
}
