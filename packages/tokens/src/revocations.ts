import { ServiceError } from "@coffer/errors";

/** A session that was revoked before its access tokens expire. `at` is Unix milliseconds. */
export interface Revocation {
  sessionId: string;
  at: number;
}

/** The revoked sessions that this service knows from readable sources and from the bus. */
export interface Revocations {
  /** Adds a revocation from the bus. */
  add(revocation: Revocation): void;
  /** Reads the whole window now, when a source is back. Never rejects. */
  readAll(): Promise<void>;
  /** Reads the whole window when the bus is back, since events were missed. Never rejects. */
  refresh(): Promise<void>;
  /**
   * Whether the session was revoked.
   * @throws ServiceError `unavailable` before the first read of the whole window, and if for five
   *   seconds no source could be read and the bus was not connected all the time since the last read
   */
  isRevoked(sessionId: string): boolean;
  close(): void;
}

export interface RevocationsOptions {
  /**
   * The readable sources, the shared store first: revocations at or after a time (Unix milliseconds).
   * A source rejects while it is away. New revocations are read from the first that answers, the whole
   * window from all: a store that lost its data answers too.
   */
  sources: readonly ((since: number) => Promise<readonly Revocation[]>)[];
  /** Whether the bus is connected now. */
  isBusConnected: () => boolean;
  /** The lifetime of an access token: older revocations are irrelevant. */
  lifetimeSeconds: number;
  now: () => Date;
  /** Called once for each new revocation, at once. Must not throw. */
  onRevoked?: ((sessionId: string) => void) | undefined;
  pollMilliseconds?: number;
  /** Milliseconds, monotonic. */
  elapsed?: () => number;
}

const blindMilliseconds = 5000;
/** Clocks of replicas differ, and a writer may be slow: reads overlap. */
const overlapMilliseconds = 60_000;
/** The interval of whole reads: a revocation may reach a source late. */
const wholeMilliseconds = 30_000;
/** The interval of whole reads after a source did not answer. */
const incompleteMilliseconds = 2_000;

/** Reads at once and then twice a second until `close`. */
export function createRevocations(options: RevocationsOptions): Revocations {
  const { sources, isBusConnected, lifetimeSeconds, now, onRevoked, pollMilliseconds = 500 } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const window = lifetimeSeconds * 1000 + overlapMilliseconds;
  const ended = new Map<string, number>();
  let newest = 0;
  let known = false;
  // Whether the bus was connected since the last read, so that no event was missed.
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
    // A revocation during an outage may reach a source late: the next read is a whole one.
    wholeAt = -Infinity;
  };
  const poll = async (): Promise<void> => {
    const time = now().getTime();
    const oldest = time - window;
    for (const [sessionId, at] of ended) if (at < oldest) ended.delete(sessionId);
    const isWhole = elapsed() - wholeAt >= wholeMilliseconds;
    // A clock that is ahead must not make later revocations look old.
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
