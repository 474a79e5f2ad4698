import { CofferError } from "./errors.ts";
import { planPoll } from "./poll-schedule.ts";
import type { PollOutcome } from "./poll-schedule.ts";
import { promised } from "./promised.ts";
import type { Secret } from "./sealed-secret.ts";
import type { SecretView } from "./views.ts";

/** What became of a secret. `removed`: deleted, or its folder was taken away. */
export type SecretChange =
  { kind: "created" | "updated"; uid: string; secret: Secret } | { kind: "removed"; uid: string };

export interface WatchOptions {
  /** Between two questions to the service. Default 60; it grows by itself while the rate limit is short. */
  intervalSeconds?: number | undefined;
  /** Hears why a question had no answer, and when the next one is asked. */
  onError?: ((error: CofferError, next: NextQuestion) => void) | undefined;
  /** For how long the first question may be put off by the rate limit. Default: until it has its turn. */
  maxWaitSeconds?: number | undefined;
  /** Ends it, also before the first answer. */
  signal?: AbortSignal | undefined;
}

/** The question after one that had no answer. */
export interface NextQuestion {
  /** In how many seconds it is asked. */
  seconds: number;
  /** Whether secrets are known; else whoever called `watch` still waits. */
  begun: boolean;
}

/** A watch that goes on until it is stopped, or until the service refuses the caller for good. */
export interface Watch {
  stop(): void;
  /** Resolves when it was stopped. Rejects with the CofferError that ended it: the caller was cut off. */
  readonly ended: Promise<void>;
}

/** What a watch asks. */
export interface Watched {
  /** The secrets as they are now, sealed: one request, tried once. The first time they may have been asked for before. */
  views(first: boolean): Promise<readonly SecretView[]>;
  /** Those that can be opened, opened. */
  open(views: readonly SecretView[]): Promise<Secret[]>;
  /** The share of the rate limit that is left, as the last answer said. */
  room(): number | undefined;
  /** Why the last views are not the service's answer, but what was kept of an earlier one. */
  away(): CofferError | undefined;
}

/** Time and chance, of which a simulation has its own. */
export interface WatchTime {
  /** Does the work after so many seconds. Returns what prevents it. */
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
 * Tells `listener` what has changed since the secrets were first asked for, which has happened when this resolves. A
 * first question that the rate limit refuses is asked again in its turn; throws what it throws otherwise, `rate_limited`
 * when its turn would be later than `maxWaitSeconds`, and `network` when it was ended before it had an answer.
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
    if (error === undefined) return { kind: "answered", room: watched.room() };
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

/** What a secret looks like from outside: it changes with every write. */
function stateOf(views: readonly SecretView[]): Map<string, string> {
  return new Map(views.map(({ uid, version, updated_at }) => [uid, `${version}.${updated_at}`]));
}

/** Whether asking again is of no use, by the service's own word. */
function isFinal({ code, foreign }: CofferError): boolean {
  return !foreign && ["invalid_token", "token_reused", "access_denied", "configuration"].includes(code);
}
