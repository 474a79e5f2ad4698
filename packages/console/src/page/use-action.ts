import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "./explain.ts";
import { CallError } from "./worker-client.ts";

export interface Action {
  /** Whether it runs. */
  busy: boolean;
  /** Whether it has run for so long that the person should see it. */
  slow: boolean;
  /** The last error; null after a success. */
  problem: string | null;
  /** Seconds for which the service refuses another attempt. */
  waitSeconds: number;
  run(work: () => Promise<void>): void;
}

/** A wait becomes visible after this time. */
export const slowMilliseconds = 300;

/**
 * Runs one thing at a time, and keeps its error for the screen: a second click does nothing, and the screen disables
 * the control while `busy`. Counts down what the rate limit demands. `useLoad` reads what a screen shows.
 * @param texts what to say of some codes here
 */
export function useAction(texts: Partial<Record<string, string>> = {}): Action {
  const [busy, setBusy] = useState(false);
  const [slow, setSlow] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [waitSeconds, setWaitSeconds] = useState(0);
  const running = useRef(false);

  useEffect(() => {
    if (waitSeconds <= 0) return;
    const timer = setTimeout(() => setWaitSeconds(waitSeconds - 1), 1000);
    return () => clearTimeout(timer);
  }, [waitSeconds]);

  const run = (work: () => Promise<void>): void => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setProblem(null);
    const timer = setTimeout(() => setSlow(true), slowMilliseconds);
    work()
      .catch((error: unknown) => {
        setProblem(explain(error, texts));
        if (error instanceof CallError && error.code === "rate_limited") setWaitSeconds(error.retryAfterSeconds ?? 60);
      })
      .finally(() => {
        clearTimeout(timer);
        running.current = false;
        setBusy(false);
        setSlow(false);
      });
  };
  return { busy, slow, problem, waitSeconds, run };
}
