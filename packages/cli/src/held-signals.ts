const held = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How much such work is under way, some within other such work perhaps. */
let holding = 0;

/**
 * Runs short work to its end whatever asks this process to stop meanwhile; the process then ends by that signal, as it would
 * have at once, unless somebody else in it listens for that and ends it otherwise. For what must not be left half done.
 */
export async function withHeldSignals<T>(work: () => Promise<T>): Promise<T> {
  let asked: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) === holding) asked ??= signal;
  };
  holding += 1;
  // Before the others, of whom one that listens once would be gone by then.
  for (const signal of held) process.prependListener(signal, hold);
  try {
    return await work();
  } finally {
    holding -= 1;
    for (const signal of held) process.off(signal, hold);
    if (asked !== undefined) process.kill(process.pid, asked);
  }
}
