import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "./explain.ts";
import { slowMilliseconds } from "./use-action.ts";

export interface Loaded<View> {
  /** Null before the first answer. */
  view: View | null;
  /** Shows the result of a change, which is newer than a read that still runs. */
  show: (view: View) => void;
  reload: () => void;
  busy: boolean;
  /** Whether it takes so long that the person should see it. */
  slow: boolean;
  /** Why the newest read failed; null otherwise. */
  problem: string | null;
}

/**
 * Reads what a screen shows, again when one of `inputs` changes. The answer for the newest inputs counts, whichever
 * comes first.
 * @param texts what to say of some codes here
 */
export function useLoad<View>(
  read: () => Promise<View>,
  inputs: readonly unknown[] = [],
  texts: Partial<Record<string, string>> = {},
): Loaded<View> {
  const [view, setView] = useState<View | null>(null);
  const [pace, setPace] = useState<"rest" | "busy" | "slow">("rest");
  const [problem, setProblem] = useState<string | null>(null);
  const newest = useRef(0);
  const show = (next: View): void => {
    newest.current += 1;
    setView(next);
    setPace("rest");
    setProblem(null);
  };
  const reload = (): void => {
    newest.current += 1;
    const own = newest.current;
    const isNewest = (): boolean => own === newest.current;
    setPace("busy");
    setTimeout(() => isNewest() && setPace((pace) => (pace === "busy" ? "slow" : pace)), slowMilliseconds);
    read().then(
      (next) => isNewest() && show(next),
      (error: unknown) => {
        if (!isNewest()) return;
        setPace("rest");
        setProblem(explain(error, texts));
      },
    );
  };
  useEffect(reload, inputs);
  return { view, show, reload, busy: pace !== "rest", slow: pace === "slow", problem };
}
