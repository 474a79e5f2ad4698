import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { isAlive, signal } from "./processes.ts";
import { asServerUser } from "./server-user.ts";
import { type Store, StoreError } from "./store.ts";
import { tiedToThisProcess } from "./tied.ts";

export interface ServerPlan {
  /** Its name in messages. */
  name: string;
  /** The working directory; the log of the server is the file `log` in `logDirectory`. */
  directory: string;
  logDirectory: string;
  /** The command line for a port. */
  command: (port: number) => string[];
  url: (port: number) => string;
  /** The port, or `undefined` for a free one. */
  port: number | undefined;
  /** The server's log line when it accepts connections, and when the port is in use. */
  ready: RegExp;
  taken: RegExp;
  /** The signal for an orderly stop. */
  stopSignal: NodeJS.Signals;
  /** Cleans up after the server: children, shared memory. */
  afterExit?: () => Promise<void> | void;
  /** Ends what a kill of the process does not reach: a container. */
  onKill?: () => void;
  /** True for a command of Docker, which chooses the server's user itself. */
  contained?: boolean;
}

const logLimitBytes = 16 * 1024 * 1024;
const startMilliseconds = 60_000;
const stopMilliseconds = 8_000;

/**
 * Starts a server and waits until it accepts connections. With a free port, repeats a start that lost
 * the race for it. Throws StoreError with the reason from the server's own log.
 */
export async function runServer(plan: ServerPlan): Promise<Store> {
  for (let attempt = 1; ; attempt += 1) {
    const port = plan.port ?? (await freePort());
    const outcome = await launch(plan, port);
    if (outcome.kind === "running") return outcome.store;
    if (plan.port === undefined && outcome.taken && attempt < 10) continue;
    throw new StoreError(
      outcome.taken ? `${plan.name}: port ${port} is taken` : `${plan.name} did not start: ${outcome.reason}`,
    );
  }
}

type Outcome = { kind: "running"; store: Store } | { kind: "failed"; taken: boolean; reason: string };

async function launch(plan: ServerPlan, port: number): Promise<Outcome> {
  const log = openLog(`${plan.logDirectory}/log`);
  const from = fstatSync(log).size;
  const command = plan.command(port);
  const [program = "", ...rest] =
    plan.contained === true
      ? tiedToThisProcess(command, plan.stopSignal)
      : asServerUser(command, { deathSignal: plan.stopSignal.slice(3) });
  // A separate process group: Ctrl-C in the terminal reaches only us, and we stop the servers in order.
  const child = spawn(program, rest, { cwd: plan.directory, stdio: ["ignore", log, log], detached: true });
  const state = { gone: false };
  const ended = new Promise<void>((resolve) => {
    const finish = (): void => {
      state.gone = true;
      resolve();
    };
    child.once("exit", finish);
    child.once("error", finish);
  });
  const text = (): string => readFrom(log, from);
  const pid = child.pid;
  try {
    const until = performance.now() + startMilliseconds;
    while (!state.gone && !plan.ready.test(text()) && performance.now() < until) await Promise.race([ended, pause(5)]);
    const said = text();
    if (pid !== undefined && !state.gone && plan.ready.test(said)) {
      return { kind: "running", store: storeOf(plan, port, pid, ended) };
    }
    child.kill("SIGKILL");
    await ended;
    await plan.afterExit?.();
    return { kind: "failed", taken: plan.taken.test(said), reason: lastLines(said) || `${program} could not be run` };
  } finally {
    closeSync(log);
  }
}

function storeOf(plan: ServerPlan, port: number, pid: number, ended: Promise<void>): Store {
  const listeners = new Set<() => void>();
  let running = true;
  const end = (name: NodeJS.Signals): void => {
    if (!running) return;
    signal(pid, name);
    if (name === "SIGKILL") plan.onKill?.();
  };
  // An orderly stop, so that it cleans up; no caller waits for it.
  const endWithUs = (): void => end(plan.stopSignal);
  process.once("exit", endWithUs);
  void ended.then(() => {
    running = false;
    process.off("exit", endWithUs);
    for (const listener of listeners) listener();
  });
  return {
    url: plan.url(port),
    port,
    pid,
    kill: () => end("SIGKILL"),
    onExit: (listener) => {
      if (running) listeners.add(listener);
      else listener();
    },
    stop: async () => {
      listeners.clear();
      end(plan.stopSignal);
      const patience = new AbortController();
      const late = pause(stopMilliseconds, undefined, { signal: patience.signal }).then(
        () => end("SIGKILL"),
        () => undefined,
      );
      await ended;
      patience.abort();
      await late;
      while (isAlive(pid)) await pause(5);
      await plan.afterExit?.();
    },
  };
}

function openLog(path: string): number {
  if (existsSync(path) && statSync(path).size > logLimitBytes) renameSync(path, `${path}.1`);
  return openSync(path, "a+", 0o600);
}

function readFrom(file: number, position: number): string {
  const buffer = Buffer.alloc(Math.max(0, fstatSync(file).size - position));
  return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, position));
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" / ").slice(0, 500);
}
