import { CofferError } from "../errors.ts";
import { promised } from "../promised.ts";
import type { SecretView } from "../views.ts";
import { planPoll, type PollOutcome } from "./poll-schedule.ts";
import type { Secret } from "./sealed-secret.ts";

/**
 * A change of a secret. `removed`: deleted, its folder is no longer shared, or it has expired. For
 * a person, one that expires is `updated`.
 */
export type SecretChange =
  { kind: "created" | "updated"; uid: string; secret: Secret } | { kind: "removed"; uid: string };

export interface WatchOptions {
  /** The interval of requests. Default 60; it grows while the rate limit is short. */
  intervalSeconds?: number | undefined;
  /** Called when a request had no response, with the time of the next one. */
  onError?: ((error: CofferError, next: NextQuestion) => void) | undefined;
  /** How long the rate limit may delay the first request. Default: without limit. */
  maxWaitSeconds?: number | undefined;
  /** Ends the watch, also before the first response. */
  signal?: AbortSignal | undefined;
}

/** The request after one without a response. */
export interface NextQuestion {
  /** In how many seconds it is sent. */
  seconds: number;
  /** Whether secrets are known. Otherwise the caller of `watch` still waits. */
  begun: boolean;
}

/** A watch that runs until it is stopped, or until the service refuses the caller for good. */
export interface Watch {
  stop(): void;
  /**
   * Resolves when it was stopped. Rejects with the CofferError that ended it: the caller's access
   * was revoked.
   */
  readonly ended: Promise<void>;
}

/** The source of a watch. */
export interface Watched {
  /**
   * The current secrets, sealed: one request, tried once. The first time a cached list may be used.
   */
  views(first: boolean): Promise<readonly SecretView[]>;
  /** The readable secrets, opened. */
  open(views: readonly SecretView[]): Promise<Secret[]>;
  /** The remaining share of the rate limit in the last response. */
  remaining(): number | undefined;
  /** The error of the service if the last views are a stored response. */
  away(): CofferError | undefined;
}

/** Time and randomness, which a simulation can replace. */
export interface WatchTime {
  /** Runs the work after so many seconds. Returns a function that cancels it. */
  after(seconds: number, work: () => Promise<void>): () => void;
  /** From 0 to 1. */
  random(): number;
}

const realTime: WatchTime = {
  after(seconds, work) {
    const timer = setTimeout(() => void work(), seconds * 1000);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/**
 * Calls `listener` with the changes since the first response, which has arrived when this resolves.
 * A first request that the rate limit refuses is retried. Throws its other errors, `rate_limited`
 * when the retry would come after `maxWaitSeconds`, and `network` when the watch was ended before a
 * response.
 */
export async function watchSecrets(
  watched: Watched,
  listener: (changes: SecretChange[]) => void,
  { intervalSeconds = 60, onError, maxWaitSeconds = Infinity, signal }: WatchOptions,
  time: WatchTime = realTime,
): Promise<Watch> {
  const begun = promised();
  const over = promised();
  let known: Map<string, string> | undefined;
  let interval = intervalSeconds;
  let waited = 0;
  let cancel = (): void => undefined;
  let stopped = false;

  const look = async (): Promise<void> => {
    const views = await watched.views(known === undefined);
    const next = stateOf(views);
    const before = known ?? next;
    const changed = views.filter(({ uid }) => before.get(uid) !== next.get(uid));
    const secrets = await watched.open(changed);
    const changes: SecretChange[] = secrets.map((secret) => ({
      kind: before.has(secret.uid) ? "updated" : "created",
      uid: secret.uid,
      secret,
    }));
    for (const uid of before.keys()) if (!next.has(uid)) changes.push({ kind: "removed", uid });
    known = next;
    if (changes.length > 0 && !stopped) listener(changes);
  };

  const poll = async (): Promise<void> => {
    let error: CofferError | undefined;
    try {
      await look();
      error = watched.away();
    } catch (thrown) {
      if (!(thrown instanceof CofferError) || isFinal(thrown)) throw thrown;
      if (known === undefined && thrown.code !== "rate_limited") throw thrown;
      error = thrown;
    }
    if (stopped) return;
    const { wait, interval: found } = planPoll(interval, intervalSeconds, outcomeOf(error), time.random());
    interval = found;
    if (error !== undefined) {
      if (known === undefined && (waited += wait) > maxWaitSeconds) throw error;
      onError?.(error, { seconds: wait, begun: known !== undefined });
    }
    if (known !== undefined) begun.resolve();
    // `onError` may have ended it.
    if (!ended()) cancel = time.after(wait, () => poll().catch(end));
  };
  const outcomeOf = (error: CofferError | undefined): PollOutcome => {
    if (error === undefined) return { kind: "answered", remaining: watched.remaining() };
    if (error.code !== "rate_limited") return { kind: "away" };
    return { kind: "refused", retryAfterSeconds: error.retryAfterSeconds ?? 1, first: known === undefined };
  };
  const ended = (): boolean => stopped;
  const end = (error?: unknown): void => {
    stopped = true;
    cancel();
    signal?.removeEventListener("abort", abort);
    begun.reject(error ?? new CofferError("network", "the watch was ended before it had an answer"));
    if (error === undefined) over.resolve();
    else over.reject(error);
  };
  const abort = (): void => end();

  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) end();
  else cancel = time.after(0, () => poll().catch(end));
  await begun.promise;
  return { stop: () => end(), ended: over.promise };
}

/** The observable state of a secret, which changes with every write, and when it expires. */
function stateOf(views: readonly SecretView[]): Map<string, string> {
  return new Map(
    views.map(({ uid, version, updated_at, expired = false }) => [uid, `${version}.${updated_at}.${expired}`]),
  );
}

/** Whether the service says that a retry is of no use. */
function isFinal({ code, foreign }: CofferError): boolean {
  return !foreign && ["invalid_token", "token_reused", "access_denied", "configuration"].includes(code);
}
