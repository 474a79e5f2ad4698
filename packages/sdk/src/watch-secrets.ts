import { CofferError } from "./errors.ts";
import { planPoll } from "./poll-schedule.ts";
import type { PollOutcome } from "./poll-schedule.ts";
import type { Secret } from "./sealed-secret.ts";
import type { SecretView } from "./views.ts";

/** What became of a secret. `removed`: deleted, or its folder was taken away. */
export type SecretChange =
  { kind: "created" | "updated"; uid: string; secret: Secret } | { kind: "removed"; uid: string };

export interface WatchOptions {
  /** Between two questions to the service. Default 60; it grows by itself while the rate limit is short. */
  intervalSeconds?: number | undefined;
  /** Hears why a question had no answer; the next one is asked in its time. */
  onError?: ((error: CofferError) => void) | undefined;
}

/** A watch that goes on until it is stopped, or until the service refuses the caller for good. */
export interface Watch {
  stop(): void;
  /** Resolves when it was stopped. Rejects with the CofferError that ended it: the caller was cut off. */
  readonly ended: Promise<void>;
}

/** What a watch asks. */
export interface Watched {
  /** The secrets as they are now, sealed: one request, tried once. */
  views(): Promise<readonly SecretView[]>;
  /** Those that can be opened, opened. */
  open(views: readonly SecretView[]): Promise<Secret[]>;
  /** The share of the rate limit that is left, as the last answer said. */
  room(): number | undefined;
}

/**
 * Tells `listener` what has changed since the secrets were first asked for, which has happened when this resolves.
 * Throws what that first question throws.
 */
export async function watchSecrets(
  watched: Watched,
  listener: (changes: SecretChange[]) => void,
  { intervalSeconds = 60, onError }: WatchOptions,
): Promise<Watch> {
  let settle: (error?: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    settle = (error) => (error instanceof Error ? reject(error) : resolve());
  });
  // Who does not wait for the end does not care.
  ended.catch(() => undefined);
  let known = stateOf(await watched.views());
  let interval = intervalSeconds;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const poll = async (): Promise<PollOutcome> => {
    try {
      const views = await watched.views();
      const next = stateOf(views);
      const changed = views.filter(({ uid }) => known.get(uid) !== next.get(uid));
      const secrets = await watched.open(changed);
      const changes: SecretChange[] = secrets.map((secret) => ({
        kind: known.has(secret.uid) ? "updated" : "created",
        uid: secret.uid,
        secret,
      }));
      for (const uid of known.keys()) if (!next.has(uid)) changes.push({ kind: "removed", uid });
      known = next;
      if (changes.length > 0 && !stopped) listener(changes);
      return { kind: "answered", room: watched.room() };
    } catch (error) {
      if (!(error instanceof CofferError) || isFinal(error)) throw error;
      if (!stopped) onError?.(error);
      if (error.code !== "rate_limited") return { kind: "away" };
      return { kind: "refused", retryAfterSeconds: error.retryAfterSeconds ?? 1 };
    }
  };

  const plan = (outcome: PollOutcome): void => {
    if (stopped) return;
    const next = planPoll(interval, intervalSeconds, outcome, Math.random());
    interval = next.interval;
    timer = setTimeout(() => void poll().then(plan, end), next.wait * 1000);
  };
  const end = (error?: unknown): void => {
    stopped = true;
    clearTimeout(timer);
    settle(error);
  };

  plan({ kind: "answered", room: watched.room() });
  return { stop: () => end(), ended };
}

/** What a secret looks like from outside: it changes with every write. */
function stateOf(views: readonly SecretView[]): Map<string, string> {
  return new Map(views.map(({ uid, version, updated_at }) => [uid, `${version}.${updated_at}`]));
}

/** Whether asking again is of no use, by the service's own word. */
function isFinal({ code, foreign }: CofferError): boolean {
  return !foreign && ["invalid_token", "token_reused", "access_denied", "configuration"].includes(code);
}
