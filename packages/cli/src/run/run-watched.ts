import type { ChildProcess } from "node:child_process";
import type { SecretsClient, Watch } from "@coffer/sdk";
import { printNotice } from "../output/output.ts";
import { resolveReferences } from "./references.ts";
import { limitNotice } from "./retry-limited.ts";

/** How long a command may take to end before a restart. */
const stopMilliseconds = 10_000;
const ending = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface WatchedRun {
  client: SecretsClient;
  /** Notations, by variable. */
  references: ReadonlyMap<string, string>;
  intervalSeconds: number;
  /** How long the rate limit may delay the start. */
  maxWaitSeconds: number;
  /** Sent on a change; without it the command is restarted with the new values. */
  signal: NodeJS.Signals | undefined;
  /**
   * Runs the command to its end with these values; `began` receives the child. Returns its exit
   * code.
   */
  run(values: ReadonlyMap<string, string>, began: (child: ChildProcess) => void): Promise<number>;
}

/**
 * Runs a command, and restarts it when one of its values changes. Errors while watching are
 * printed, and the command continues. Returns the exit code of a command that ended by itself.
 */
export async function runWatched({
  client,
  references,
  intervalSeconds,
  maxWaitSeconds,
  signal,
  run,
}: WatchedRun): Promise<number> {
  const resolve = () => resolveReferences(references, () => Promise.resolve(client));
  const state = { child: undefined as ChildProcess | undefined, restarting: false, stopping: false };
  const waiting = limitNotice();
  let values: ReadonlyMap<string, string> | undefined;

  const look = async (): Promise<void> => {
    if (values === undefined) return;
    const next = await resolve();
    const before = values;
    const changed = [...next].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);
    if (changed.length === 0) return;
    values = next;
    printNotice(
      `coffer: ${changed.join(", ")} changed: ${signal === undefined ? "starting the command again" : `sending ${signal}`}`,
    );
    if (state.child === undefined) return;
    if (signal === undefined) {
      state.restarting = true;
      stop(state.child);
    } else state.child.kill(signal);
  };
  const goesOn = (error: unknown): void => {
    printNotice(
      `coffer: the command continues with its values: ${error instanceof Error ? error.message : "watching failed"}`,
    );
  };

  // The watch makes the first request, so that its list and its pace are used.
  const watch: Watch = await client.watch(() => void look().catch(goesOn), {
    intervalSeconds,
    maxWaitSeconds,
    onError(error, { seconds, begun }) {
      if (!begun) waiting(error, seconds);
      // Before the start there is no command, and the use of stored values was printed.
      else if (values !== undefined) goesOn(error);
    },
  });
  watch.ended.catch(goesOn);
  // A signal that ends this process ends the command, which must not be restarted then.
  const stopping = (): void => void (state.stopping = true);
  for (const each of ending) process.on(each, stopping);
  try {
    values = await resolve();
    let code: number;
    do {
      Object.assign(state, { restarting: false });
      code = await run(values, (begun) => (state.child = begun));
      state.child = undefined;
    } while (state.restarting && !state.stopping);
    return code;
  } finally {
    for (const each of ending) process.off(each, stopping);
    watch.stop();
  }
}

function stop(child: ChildProcess): void {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMilliseconds);
  child.once("exit", () => {
    clearTimeout(timer);
  });
}
