import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { logFile } from "./service-log.ts";
import { runOnce, type ServiceAddress, type ServiceRunOptions } from "./service-run.ts";
import { StartupError } from "../startup-error.ts";

export interface ServiceProcess {
  /** Its present address; null while it is away. */
  address(): ServiceAddress | null;
  /** Stops it in order; kills it after `seconds`. */
  stop(seconds: number): Promise<void>;
}

export interface ServiceProcessOptions extends ServiceRunOptions {
  /** Called whenever the address changes. */
  onChange: () => void;
}

const quickMilliseconds = 5_000;
const stepMilliseconds = 250;
const longestPauseMilliseconds = 1_250;

/**
 * Runs a service as its own process and restarts it whenever it dies: at once, and after pauses of up
 * to 1.25 s while it dies soon after its start. Resolves when it answers. Throws StartupError if its first
 * start fails.
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
  async function supervise(): Promise<void> {
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
  const supervised = supervise();
  return {
    address: () => address,
    stop: async (seconds) => {
      stopping.abort();
      run.signal("SIGTERM");
      const cut = setTimeout(() => run.signal("SIGKILL"), seconds * 1000);
      await supervised;
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
