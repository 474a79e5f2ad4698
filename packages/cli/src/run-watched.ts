import type { ChildProcess } from "node:child_process";
import type { SecretsClient, Watch } from "@coffer/sdk";
import { waitingLine } from "./in-turn.ts";
import { tell } from "./output.ts";
import { resolveReferences } from "./references.ts";

/** How long a command that is to be started again has to end by itself. */
const stopMilliseconds = 10_000;
const ending = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface WatchedRun {
  client: SecretsClient;
  /** Notations, by variable. */
  references: ReadonlyMap<string, string>;
  intervalSeconds: number;
  /** For how long the rate limit may put off its beginning. */
  maxWaitSeconds: number;
  /** Sent on a change; without it the command is started again with the new values. */
  signal: NodeJS.Signals | undefined;
  /** Runs the command to its end with these values; `began` is given the child. Returns its exit code. */
  run(values: ReadonlyMap<string, string>, began: (child: ChildProcess) => void): Promise<number>;
}

/**
 * Runs a command, and again whenever a value that it was given has changed. What goes wrong while watching is said, and
 * the command goes on with what it has. Returns the exit code with which it ended by itself.
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
  const state = { child: undefined as ChildProcess | undefined, restarting: false, told: false };
  const waiting = waitingLine();
  let values: ReadonlyMap<string, string> | undefined;

  const look = async (): Promise<void> => {
    if (values === undefined) return;
    const next = await resolve();
    const before = values;
    const changed = [...next].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);
    if (changed.length === 0) return;
    values = next;
    tell(
      `coffer: ${changed.join(", ")} changed: ${signal === undefined ? "starting the command again" : `sending ${signal}`}`,
    );
    if (state.child === undefined) return;
    if (signal === undefined) {
      state.restarting = true;
      stop(state.child);
    } else state.child.kill(signal);
  };
  const goesOn = (error: unknown): void => {
    tell(`coffer: the command goes on with what it has: ${error instanceof Error ? error.message : "watching failed"}`);
  };

  // The watch asks first: its list is the one that the values come from, and the pace that it finds is kept.
  const watch: Watch = await client.watch(() => void look().catch(goesOn), {
    intervalSeconds,
    maxWaitSeconds,
    onError(error, { seconds, begun }) {
      if (!begun) waiting(error, seconds);
      // Before that there is no command, and that kept values are used was said.
      else if (values !== undefined) goesOn(error);
    },
  });
  watch.ended.catch(goesOn);
  // Who asks us to end, asks the command: it is not to be started again then.
  const told = (): void => void (state.told = true);
  for (const each of ending) process.on(each, told);
  try {
    values = await resolve();
    let code: number;
    do {
      Object.assign(state, { restarting: false });
      code = await run(values, (begun) => (state.child = begun));
      state.child = undefined;
    } while (state.restarting && !state.told);
    return code;
  } finally {
    for (const each of ending) process.off(each, told);
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
