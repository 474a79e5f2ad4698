import { ServiceError } from "@coffer/errors";

/** A session that ended before its access tokens did. `at` is Unix milliseconds. */
export interface Revocation {
  sessionId: string;
  at: number;
}

/** Which sessions have ended, as this service has heard from two sides: what it can read, and the bus. */
export interface Revocations {
  /** Heard of one. */
  add(revocation: Revocation): void;
  /** Reads the whole window now: for the moment a source is back. Never rejects. */
  readAll(): Promise<void>;
  /** For the moment the bus is back: what was said meanwhile was missed, so that the whole window is read. Never rejects. */
  refresh(): Promise<void>;
  /**
   * Whether the session has ended.
   * @throws ServiceError `unavailable` while nobody here can know: until the whole window was read for the first time,
   *   and when for five seconds nothing could be read and the bus was not there all the time since something could
   */
  isRevoked(sessionId: string): boolean;
  close(): void;
}

export interface RevocationsOptions {
  /**
   * Where revocations can be read, the shared store first: those at or after a time (Unix milliseconds). A source rejects
   * while it is away. What is new is read from the first that answers, the whole window from all of them: a store that
   * was lost answers too, and knows nothing yet.
   */
  sources: readonly ((since: number) => Promise<readonly Revocation[]>)[];
  /** Whether the bus is connected now. */
  isBusConnected: () => boolean;
  /** The life of an access token: what is older needs no remembering. */
  lifetimeSeconds: number;
  now: () => Date;
  /** Called once for each session that is heard of, as soon as it is. Must not throw. */
  onRevoked?: ((sessionId: string) => void) | undefined;
  pollMilliseconds?: number;
  /** Milliseconds of a clock that never goes back. */
  elapsed?: () => number;
}

const blindMilliseconds = 5000;
/** Clocks of replicas differ, and a writer may be slow: what is read overlaps what was read before. */
const overlapMilliseconds = 60_000;
/** How often the whole window is read all the same: a revocation may reach a source long after it happened. */
const wholeMilliseconds = 30_000;
/** The same while one of the sources did not answer: it may be the one that knows. */
const incompleteMilliseconds = 2_000;

/** Reads at once and then twice a second until `close`. */
export function createRevocations(options: RevocationsOptions): Revocations {
  const { sources, isBusConnected, lifetimeSeconds, now, onRevoked, pollMilliseconds = 500 } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const window = lifetimeSeconds * 1000 + overlapMilliseconds;
  const ended = new Map<string, number>();
  let newest = 0;
  let known = false;
  // Whether the bus has been there since something was read, so that nothing was missed.
  let unbroken = false;
  let connections = 0;
  let heardAt = -Infinity;
  let wholeAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const add = ({ sessionId, at }: Revocation): void => {
    const known = ended.get(sessionId);
    ended.set(sessionId, Math.max(at, known ?? 0));
    if (known === undefined) onRevoked?.(sessionId);
  };
  const listen = (): void => {
    if (!isBusConnected()) unbroken = false;
    else if (unbroken) heardAt = elapsed();
  };
  const readFrom = async (source: RevocationsOptions["sources"][number], since: number): Promise<boolean> => {
    const startedAt = elapsed();
    const connection = isBusConnected() ? connections : undefined;
    try {
      for (const revocation of await source(since)) {
        add(revocation);
        newest = Math.max(newest, revocation.at);
      }
      heardAt = Math.max(heardAt, startedAt);
      if (connection === connections && isBusConnected()) unbroken = true;
      return true;
    } catch {
      return false;
    }
  };
  const readAll = async (): Promise<void> => {
    const startedAt = elapsed();
    const since = now().getTime() - window;
    const answers = await Promise.all(
      sources.map(async (source) => {
        const answered = await readFrom(source, since);
        known ||= answered;
        return answered;
      }),
    );
    if (!answers.includes(true)) return;
    wholeAt = answers.includes(false) ? startedAt - wholeMilliseconds + incompleteMilliseconds : startedAt;
  };
  const readNew = async (since: number): Promise<void> => {
    for (const source of sources) if (await readFrom(source, since)) return;
    // What was revoked while they were away may reach one of them late: the next read is a whole one.
    wholeAt = -Infinity;
  };
  const poll = async (): Promise<void> => {
    const time = now().getTime();
    const oldest = time - window;
    for (const [sessionId, at] of ended) if (at < oldest) ended.delete(sessionId);
    const isWhole = elapsed() - wholeAt >= wholeMilliseconds;
    // A writer whose clock is ahead must not make the others' news look old.
    const last = Math.min(newest, time) - overlapMilliseconds;
    await (isWhole ? readAll() : readNew(Math.max(oldest, last)));
    listen();
    if (!closed) timer = setTimeout(() => void poll(), pollMilliseconds).unref();
  };
  const isRevoked = (sessionId: string): boolean => {
    listen();
    if (ended.has(sessionId)) return true;
    if (known && elapsed() - heardAt <= blindMilliseconds) return false;
    throw new ServiceError("unavailable", "which sessions have ended cannot be known at the moment", {
      retryAfterSeconds: 1,
    });
  };
  void poll();

  return {
    add,
    readAll,
    refresh: () => {
      connections += 1;
      unbroken = false;
      return readAll();
    },
    isRevoked,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
