import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { DeployedService } from "@coffer/events";
import { nodeFlags } from "@coffer/service";
import { logFile, openLog } from "./service-log.ts";
import { programOf } from "./services.ts";

export interface ServiceAddress {
  pid: number;
  url: string;
  managementUrl: string;
}

/** One run of a service as its own process. */
export interface ServiceRun {
  /** Its address; null if it ended before it was ready. */
  readonly ready: Promise<ServiceAddress | null>;
  /** How it ended, in words: an exit code, a signal, or the reason why there was no process. */
  readonly ended: Promise<string>;
  signal(name: NodeJS.Signals): void;
}

export interface ServiceRunOptions {
  name: DeployedService;
  environment: NodeJS.ProcessEnv;
  dataDirectory: string;
  report: (line: string) => void;
  /** The command. Default: the service's program with the flags of services. */
  command?: readonly string[];
  /** The limit until it is ready; then it is killed. Default: 30. */
  readySeconds?: number;
}

/** Starts a service as a process. Never throws: a process that cannot be made has ended. */
export function runOnce(options: ServiceRunOptions): ServiceRun {
  const { name, readySeconds = 30 } = options;
  const ended = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<ServiceAddress | null>();
  let late = false;
  void ended.promise.then(() => ready.resolve(null));
  let child: ChildProcess;
  try {
    child = start(options);
  } catch (error) {
    ended.resolve(reasonOf(error));
    return { ready: ready.promise, ended: ended.promise, signal: () => undefined };
  }
  child.once("exit", (code, signal) =>
    ended.resolve(late ? `${name} did not answer within ${readySeconds} s` : (signal ?? `code ${String(code)}`)),
  );
  // Without a process this error replaces the exit; with one it reports a lost signal or message.
  child.on("error", (error) => {
    if (child.pid === undefined) ended.resolve(reasonOf(error));
  });
  child.on("message", (message) => {
    if (typeof message !== "object" || !("type" in message) || message.type !== "ready") return;
    if (!("url" in message) || !("management_url" in message) || child.pid === undefined) return;
    ready.resolve({ pid: child.pid, url: String(message.url), managementUrl: String(message.management_url) });
  });
  const patience = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, readySeconds * 1000);
  void ready.promise.then(() => clearTimeout(patience));
  return { ready: ready.promise, ended: ended.promise, signal: (signal) => void child.kill(signal) };
}

function start(options: ServiceRunOptions): ChildProcess {
  const { name, environment, command = [process.execPath, ...nodeFlags, programOf(name)] } = options;
  const [program = "", ...args] = command;
  const log = logOf(options);
  try {
    // A separate process group: Ctrl-C in the terminal reaches it only through us.
    return spawn(program, args, { env: environment, stdio: ["ignore", log, log, "ipc"], detached: true });
  } finally {
    if (log !== "ignore") closeSync(log);
  }
}

function logOf({ name, dataDirectory, report }: ServiceRunOptions): number | "ignore" {
  try {
    return openLog(logFile(dataDirectory, name));
  } catch (error) {
    report(`${name} runs without a log: ${reasonOf(error)}`);
    return "ignore";
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
