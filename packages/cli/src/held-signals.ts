const held = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs short work to its end whatever asks this process to stop meanwhile; the process then ends by that signal, as it would
 * have at once. For what must not be left half done.
 */
export async function withHeldSignals<T>(work: () => Promise<T>): Promise<T> {
  let asked: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals): void => {
    asked ??= signal;
  };
  for (const signal of held) process.on(signal, hold);
  try {
    return await work();
  } finally {
    for (const signal of held) process.off(signal, hold);
    if (asked !== undefined) process.kill(process.pid, asked);
  }
}
