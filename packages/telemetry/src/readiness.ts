import { readWithin } from "./read-within.ts";

/** Whether a service can work, and the state of each dependency. */
export interface Readiness {
  ready: boolean;
  /** Ready, but without a dependency that only some requests need. */
  degraded?: boolean | undefined;
  checks: Record<string, string>;
}

const cachedMilliseconds = 1000;
const limitMilliseconds = 2000;

/**
 * Wraps a readiness check: runs it at most once a second; a failure, or more than 2 s, means not
 * ready. `onChange` receives each result whose `ready` or `checks` differ from the one before. In the
 * first `startMilliseconds` it receives only a result without anything missing: connections are
 * being made.
 */
export function createReadinessCheck(
  check: () => Promise<Readiness>,
  onChange: (readiness: Readiness) => void = () => undefined,
  startMilliseconds = 0,
): () => Promise<Readiness> {
  let last: { at: number; result: Promise<Readiness> } | undefined;
  let seen = "";
  const started = performance.now();
  const checkOnce = async (): Promise<Readiness> => {
    const result = await bounded(check);
    const complete = result.ready && result.degraded !== true;
    if (!complete && performance.now() - started < startMilliseconds) return result;
    const text = JSON.stringify([result.ready, result.checks]);
    if (text !== seen) onChange(result);
    seen = text;
    return result;
  };
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at >= cachedMilliseconds) last = { at: now, result: checkOnce() };
    return last.result;
  };
}

async function bounded(check: () => Promise<Readiness>): Promise<Readiness> {
  return (await readWithin(check, limitMilliseconds)) ?? { ready: false, checks: { readiness: "down" } };
}
