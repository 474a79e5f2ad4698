import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../http/offline-transport.ts";
import { type FreshSessions, type PersonSession, renewBeforeSeconds } from "../people/person-session.ts";
import type { Promised } from "../promised.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { requirePerson } from "./as-person.ts";
import { closedBecause, tooMany } from "./closed-because.ts";
import type { WebSocketConstructor } from "./connection.ts";
import type { LinkEnd, LinkOf } from "./link-state.ts";
import { type Link, mostPerPage, openLink } from "./link.ts";
import { type OnUnreadable, openChanges, type SyncChange } from "./open-changes.ts";
import { crowdedDelay, reconnectDelay, shortestMilliseconds } from "./reconnect-delay.ts";
import type { ReplicaKeeper } from "./replica-keeper.ts";
import type { Step } from "./replica.ts";

export interface SyncOptions {
  /**
   * Called with the changes, in order; first with those since the storage was written. They are
   * stored only afterwards, so that the next run repeats changes that a crash or an exception
   * interrupted. An exception ends the sync.
   */
  onChange?: ((changes: SyncChange[]) => void) | undefined;
  /** The storage of the device's sealed replica between runs. Off by default. */
  storage?: OfflineStorage | undefined;
  /** Called when the storage could not be written. The sync continues. */
  onStorageError?: ((error: unknown) => void) | undefined;
  /** Called for each record that cannot be opened: another program's, or an altered one. */
  onUnreadable?: OnUnreadable;
  /** Called when the device is up to date and receives changes at once. */
  onLive?: (() => void) | undefined;
  /** Called when there is no connection, with the reason and the seconds until the next attempt. */
  onAway?: ((error: CofferError, retrySeconds: number) => void) | undefined;
  /**
   * Silence after which a request checks the connection. Default 45; 120 where pings are not
   * visible.
   */
  quietSeconds?: number | undefined;
  /** By default the platform's own. */
  webSocket?: WebSocketConstructor | undefined;
}

export interface SyncAs {
  url: string;
  sessions: FreshSessions;
  /** The current session, without a request. */
  session(): Promise<PersonSession>;
  vaults: VaultStore;
  /** Deletes the trust in all vaults but these. */
  forgetHidden(vaultIds: readonly string[]): Promise<void>;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * The interval of full syncs. A device requests changes since the last response and accepts only
 * newer ones, so a change that the service omitted, or that had a future time, would otherwise stay
 * wrong for good.
 */
const wholeMilliseconds = 24 * 60 * 60 * 1000;

/** The state of a device that follows its person's vaults. */
export interface Following {
  readonly as: SyncAs;
  readonly options: SyncOptions;
  readonly Socket: WebSocketConstructor;
  /** The person of the session at its start. */
  readonly userId: string;
  /** The person's vaults. */
  readonly vaults: VaultStore;
  readonly keeper: ReplicaKeeper;
  readonly ready: Promised;
  readonly ended: Promised;
  stopped: boolean;
  /** The present connection, or the last one. */
  link: Link | undefined;
  /** Ends a pause. */
  wake: () => void;
  /** The exception of a listener. Its changes count as unreported. */
  fault: { error: unknown } | undefined;
  /** Whether a full sync was requested and is incomplete. */
  fullRequested: boolean;
}

/** Connects repeatedly and applies changes until it is stopped, or ends by an error. */
export async function follow(following: Following): Promise<void> {
  const { keeper, ready, ended, vaults } = following;
  const of = linkOf(following);
  const unsubscribe = vaults.onUsable(() => {
    if (!following.stopped) following.link?.reportLate();
  });
  try {
    await keepConnected(following, of);
  } catch (error) {
    following.stopped = true;
    await (isCutOff(error) && following.fault === undefined ? keeper.clear() : keeper.close());
    ready.reject(error);
    ended.reject(error);
  } finally {
    unsubscribe();
  }
}

/** The state of a connection, and its callbacks. */
function linkOf(following: Following): LinkOf {
  const { as, options, Socket, vaults, keeper, ready } = following;
  return {
    replica: keeper.replica,
    vaults,
    Socket,
    url: as.url,
    limit: mostPerPage,
    recounted: new Set(),
    quietMilliseconds: options.quietSeconds === undefined ? undefined : options.quietSeconds * 1000,
    take: (step) => takeAndTell(following, step),
    onLive() {
      if (following.fullRequested) keeper.replica.wholeAt = as.now();
      following.fullRequested = false;
      if (following.stopped) return;
      ready.resolve();
      options.onLive?.();
    },
  };
}

/** Applies a step, and reports its changes before they are stored. */
function takeAndTell(following: Following, step: Step): Promise<void> {
  const { keeper, options, vaults } = following;
  return keeper.change(async () => {
    const changes = step();
    if (options.onChange === undefined) return changes;
    try {
      const opened = await openChanges(changes, keeper.replica, vaults, options.onUnreadable);
      // Also after a stop: the next run would not report stored changes either.
      if (opened.length > 0) options.onChange(opened);
    } catch (error) {
      following.fault = { error };
      throw error;
    }
    return changes;
  });
}

async function keepConnected(following: Following, of: LinkOf): Promise<void> {
  const { as, options } = following;
  for (let failures = 0; !following.stopped;) {
    const began = performance.now();
    const { end, session, renewing } = await connectOnce(following, of);
    if (isStopped(following)) return;
    if (following.fault !== undefined) throw following.fault.error;
    if (end.logout !== undefined) throw endedSession(end.logout);
    let error = end.error === undefined ? undefined : passing(end.error);
    const expired = end.code === 4001;
    if (expired && session !== undefined)
      await as.sessions.renew(session).catch((reason: unknown) => {
        error = passing(reason);
      });
    if (isStopped(following)) return;
    if (end.synced) failures = 0;
    const crowded = end.code === tooMany;
    if (end.synced && error === undefined && !crowded && (expired || renewing)) {
      await pause(following, shortestMilliseconds - (performance.now() - began));
      continue;
    }
    failures += 1;
    const delay = crowded ? crowdedDelay() : reconnectDelay(failures);
    options.onAway?.(error ?? closedBecause(end.code, as.url), delay / 1000);
    await pause(following, delay);
  }
}

/** One connection, from its session to its end. It is retired when its session is to be renewed. */
async function connectOnce(
  following: Following,
  of: LinkOf,
): Promise<{ end: LinkEnd; session?: PersonSession; renewing: boolean }> {
  const { as, userId } = following;
  const { replica } = of;
  let session: PersonSession;
  try {
    session = await as.sessions.current();
    requirePerson(session, userId);
  } catch (error) {
    return { end: { code: 0, synced: false, error }, renewing: false };
  }
  if (following.stopped) return { end: { code: 0, synced: false }, session, renewing: false };
  const age = as.now() - (replica.wholeAt ?? -Infinity);
  // A clock that was set back must not delay it.
  if (!following.fullRequested && (age < 0 || age >= wholeMilliseconds)) replica.serverTime = undefined;
  following.fullRequested ||= replica.serverTime === undefined;
  const link = openLink(of, session.access_token);
  following.link = link;
  let renewing = false;
  const left = session.access_expires_at * 1000 - as.now() - renewBeforeSeconds(session) * 1000;
  // Keeps the delay within the range of a timer. A timer that fires a moment early would find
  // nothing due.
  const renewal = Math.max(1, Math.min(Math.ceil(left) + 5, 2 ** 31 - 1));
  const timer = setTimeout(() => {
    renewing = true;
    link.retire();
  }, renewal);
  const end = await link.ended;
  clearTimeout(timer);
  return { end, session, renewing };
}

/** Waits, unless it is stopped. */
function pause(following: Following, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(1, milliseconds));
    following.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/** A function, because the compiler does not see that the value changes. */
function isStopped(following: Following): boolean {
  return following.stopped;
}

function endedSession(reason: string): CofferError {
  return new CofferError("invalid_token", `the session was ended (${reason}): log in again`);
}

/** Whether the service or the session's keeper says that the session has ended for good. */
function isCutOff(error: unknown): boolean {
  return (
    error instanceof CofferError && !error.foreign && (error.code === "invalid_token" || error.code === "token_reused")
  );
}

/**
 * Returns an error after which a retry can succeed. Throws any other; one that is no CofferError
 * comes from a listener.
 */
function passing(error: unknown): CofferError {
  if (error instanceof CofferError && !isCutOff(error) && error.code !== "configuration") return error;
  throw error;
}
