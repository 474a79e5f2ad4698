const held = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The number of nested or concurrent calls. */
let holding = 0;

/**
 * Finishes short work despite signals; then the process ends by the signal, unless another listener
 * handles it. For work that must not be left half done.
 */
export async function withHeldSignals<T>(work: () => Promise<T>): Promise<T> {
  let received: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) === holding) received ??= signal;
  };
  holding += 1;
  // Before other listeners: one that listens once would be gone otherwise.
  for (const signal of held) process.prependListener(signal, hold);
  try {
    return await work();
  } finally {
    holding -= 1;
    for (const signal of held) process.off(signal, hold);
    if (received !== undefined) process.kill(process.pid, received);
  }
}
