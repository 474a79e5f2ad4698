import { ServiceError } from "@coffer/errors";

/** A session that ended before its access tokens did. `at` is Unix milliseconds. */
export interface Revocation {
  sessionId: string;
  at: number;
}

/** Which sessions have ended, as this service has heard from two sides: the shared store and the bus. */
export interface Revocations {
  /** Heard of one. */
  add(revocation: Revocation): void;
  /** Reads the whole window in the store now: for the moment the bus is back. Never rejects. */
  refresh(): Promise<void>;
  /**
   * Whether the session has ended.
   * @throws ServiceError `unavailable` while nobody here can know: until the store was asked for the first time, and
   *   when neither side has been heard for five seconds
   */
  isRevoked(sessionId: string): boolean;
  close(): void;
}

export interface RevocationsOptions {
  /**
   * The revocations in the store at or after a time (Unix milliseconds); rejects while the store is away. A service
   * that can ask for them over the bus too does so here, when the store is away.
   */
  readSince: (since: number) => Promise<readonly Revocation[]>;
  /** Whether the bus is connected now. */
  isBusConnected: () => boolean;
  /** The life of an access token: what is older needs no remembering. */
  lifetimeSeconds: number;
  now: () => Date;
  pollMilliseconds?: number;
  /** Milliseconds of a clock that never goes back. */
  elapsed?: () => number;
}

const blindMilliseconds = 5000;
/** Clocks of replicas differ, and a writer may be slow: what is read overlaps what was read before. */
const overlapMilliseconds = 60_000;
/** How often the whole window is read all the same: a revocation may reach the store long after it happened. */
const wholeMilliseconds = 30_000;

/** Reads the store at once and then twice a second until `close`. */
export function createRevocations(options: RevocationsOptions): Revocations {
  const { readSince, isBusConnected, lifetimeSeconds, now, pollMilliseconds = 500 } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const window = lifetimeSeconds * 1000 + overlapMilliseconds;
  const ended = new Map<string, number>();
  let newest = 0;
  let asked = false;
  let heardAt = -Infinity;
  let wholeAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const add = ({ sessionId, at }: Revocation): void =>
    void ended.set(sessionId, Math.max(at, ended.get(sessionId) ?? 0));
  const listen = (): void => {
    if (isBusConnected()) heardAt = elapsed();
  };
  const read = async (since: number, isWhole: boolean): Promise<void> => {
    const startedAt = elapsed();
    try {
      for (const revocation of await readSince(since)) {
        add(revocation);
        newest = Math.max(newest, revocation.at);
      }
      heardAt = Math.max(heardAt, startedAt);
      if (isWhole) wholeAt = startedAt;
    } catch {
      // What was revoked while the store was away may reach it late: the next read is a whole one.
      wholeAt = -Infinity;
    }
    asked = true;
    listen();
  };
  const poll = async (): Promise<void> => {
    const time = now().getTime();
    const oldest = time - window;
    for (const [sessionId, at] of ended) if (at < oldest) ended.delete(sessionId);
    const isWhole = elapsed() - wholeAt >= wholeMilliseconds;
    // A writer whose clock is ahead must not make the others' news look old.
    const last = Math.min(newest, time) - overlapMilliseconds;
    await read(isWhole ? oldest : Math.max(oldest, last), isWhole);
    if (!closed) timer = setTimeout(() => void poll(), pollMilliseconds).unref();
  };
  const isRevoked = (sessionId: string): boolean => {
    listen();
    if (ended.has(sessionId)) return true;
    if (asked && elapsed() - heardAt <= blindMilliseconds) return false;
    throw new ServiceError("unavailable", "which sessions have ended cannot be known at the moment", {
      retryAfterSeconds: 1,
    });
  };
  void poll();

  return {
    add,
    refresh: () => read(now().getTime() - window, true),
    isRevoked,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
