import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { ServiceName } from "@coffer/events";
import { nodeFlags } from "@coffer/service";
import { logFile, openLog } from "./service-log.ts";
import { programOf } from "./services.ts";
import { StartupError } from "./startup-error.ts";

export interface ServiceAddress {
  pid: number;
  url: string;
  managementUrl: string;
}

export interface ServiceProcess {
  /** Where it answers now, or `null` while it does not. */
  address(): ServiceAddress | null;
  /** Ends it in order; cut after `seconds`. */
  stop(seconds: number): Promise<void>;
}

export interface ServiceProcessOptions {
  name: ServiceName;
  environment: NodeJS.ProcessEnv;
  dataDirectory: string;
  report: (line: string) => void;
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
  let child = fork(options);

  function set(next: ServiceAddress | null): void {
    address = next;
    onChange();
  }
  async function keepRunning(): Promise<void> {
    let pauseMilliseconds = -stepMilliseconds;
    for (;;) {
      const began = performance.now();
      await ended(child);
      set(null);
      if (isStopping()) return;
      report(`${name} is gone (${exitOf(child)}); starting it again`);
      const quick = performance.now() - began < quickMilliseconds;
      // None after the first death, then longer each time.
      pauseMilliseconds = quick ? Math.min(longestPauseMilliseconds, pauseMilliseconds + stepMilliseconds) : 0;
      await pause(pauseMilliseconds, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      child = fork(options);
      void readyOf(child).then((ready) => {
        if (ready === null) return;
        report(`${name} runs again`);
        set(ready);
      });
    }
  }

  address = await readyOf(child);
  if (address === null) throw new StartupError(`${name} did not start: ${lastLine(options)}`);
  const kept = keepRunning();
  return {
    address: () => address,
    stop: async (seconds) => {
      stopping.abort();
      child.kill("SIGTERM");
      const cut = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
      await kept;
      clearTimeout(cut);
    },
  };
}

function fork({ name, environment, dataDirectory }: ServiceProcessOptions): ChildProcess {
  const log = openLog(logFile(dataDirectory, name));
  try {
    // A group of its own, so that a Ctrl-C in the terminal reaches it through us alone.
    return spawn(process.execPath, [...nodeFlags, programOf(name)], {
      env: environment,
      stdio: ["ignore", log, log, "ipc"],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Where the service says it answers, or `null` when it ended without saying so. */
function readyOf(child: ChildProcess): Promise<ServiceAddress | null> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", () => resolve(null));
    child.on("message", (message) => {
      if (typeof message !== "object" || !("type" in message) || message.type !== "ready") return;
      if (!("url" in message) || !("management_url" in message) || child.pid === undefined) return;
      resolve({ pid: child.pid, url: String(message.url), managementUrl: String(message.management_url) });
    });
  });
}

function exitOf({ exitCode, signalCode }: ChildProcess): string {
  return signalCode ?? `code ${String(exitCode)}`;
}

function lastLine({ name, dataDirectory }: ServiceProcessOptions): string {
  const path = logFile(dataDirectory, name);
  return `${readFileSync(path, "utf8").trim().split("\n").at(-1) ?? ""} (${path})`;
}
