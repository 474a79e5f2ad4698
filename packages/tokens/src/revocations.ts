import { ServiceError } from "@coffer/errors";
import { invalidToken } from "./token-rejection.ts";

/** A session that ended before its access tokens did. `at` is Unix milliseconds. */
export interface Revocation {
  sessionId: string;
  at: number;
}

/** Which sessions have ended, as this service has heard from two sides: the shared store and the bus. */
export interface Revocations {
  /** Heard of one. */
  add(revocation: Revocation): void;
  /** Reads what is new in the store now: for the moment the bus is back. */
  refresh(): Promise<void>;
  /**
   * @throws ServiceError `invalid_token` when the session has ended, `unavailable` when neither side has been heard for
   *   five seconds, since then nobody here can know
   */
  requireLive(sessionId: string): void;
  close(): void;
}

export interface RevocationsOptions {
  /** The revocations in the store since a time (Unix milliseconds); rejects while the store is away. */
  readSince: (since: number) => Promise<readonly Revocation[]>;
  /** Whether the bus is connected now. */
  isBusConnected: () => boolean;
  /** The life of an access token: what is older needs no remembering. */
  lifetimeSeconds: number;
  now: () => Date;
  pollMilliseconds?: number;
}

const blindMilliseconds = 5000;
/** Clocks of replicas differ, and a writer may be slow: what is read overlaps what was read before. */
const overlapMilliseconds = 10_000;

/** Reads the store twice a second, from now on until `close`. */
export function createRevocations(options: RevocationsOptions): Revocations {
  const { readSince, isBusConnected, lifetimeSeconds, now, pollMilliseconds = 500 } = options;
  const ended = new Map<string, number>();
  const start = now().getTime() - lifetimeSeconds * 1000;
  let readUntil = start;
  let heardAt = now().getTime();

  const add = ({ sessionId, at }: Revocation): void => void ended.set(sessionId, at);
  const forgetOld = (time: number): void => {
    for (const [sessionId, at] of ended) if (at < time - lifetimeSeconds * 1000) ended.delete(sessionId);
  };
  const refresh = async (): Promise<void> => {
    const time = now().getTime();
    if (isBusConnected()) heardAt = time;
    try {
      for (const revocation of await readSince(readUntil)) add(revocation);
      readUntil = Math.max(start, time - overlapMilliseconds);
      heardAt = time;
      forgetOld(time);
    } catch {
      // The other side may still be heard; requireLive decides.
    }
  };
  const timer = setInterval(() => void refresh(), pollMilliseconds);
  timer.unref();

  return {
    add,
    refresh,
    requireLive(sessionId) {
      if (ended.has(sessionId)) throw invalidToken("revoked");
      if (!isBusConnected() && now().getTime() - heardAt > blindMilliseconds) {
        throw new ServiceError("unavailable", "which sessions have ended cannot be known at the moment", {
          retryAfterSeconds: 1,
        });
      }
    },
    close: () => clearInterval(timer),
  };
}
