import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../http/offline-transport.ts";
import { type FreshSessions, type PersonSession, renewBeforeSeconds } from "../people/person-session.ts";
import { promised } from "../promised.ts";
import { type Vault, vaultOf } from "../vaults/open-vault.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { asPerson, requirePerson } from "./as-person.ts";
import { closedBecause, tooMany } from "./closed-because.ts";
import type { WebSocketConstructor } from "./connection.ts";
import type { LinkEnd, LinkOf } from "./link-state.ts";
import { type Link, mostPerPage, openLink } from "./link.ts";
import { type OnUnreadable, openChanges, openHeld, type SyncChange, type SyncedRecord } from "./open-changes.ts";
import { crowdedDelay, reconnectDelay, shortestMilliseconds } from "./reconnect-delay.ts";
import { replicaKeeper } from "./replica-keeper.ts";
import { heldRecord, heldRecords, recordCounts } from "./replica.ts";

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

/**
 * The interval of full syncs. A device requests changes since the last response and accepts only
 * newer ones, so a change that the service omitted, or that had a future time, would otherwise stay
 * wrong for good.
 */
const wholeMilliseconds = 24 * 60 * 60 * 1000;

/** A device that follows the changes of its person's vaults. */
export interface Sync {
  /**
   * Resolves when the device is up to date for the first time. Rejects when the sync ends before.
   */
  readonly ready: Promise<void>;
  /** The known vaults, also without a connection. */
  vaults(): Vault[];
  /** All readable records, or those of one vault. */
  records(vaultId?: string): Promise<SyncedRecord[]>;
  record(id: string): Promise<SyncedRecord | undefined>;
  /**
   * Deletes all invisible vaults from the client's `trust`. For a travelling person's device, once
   * it is up to date. Rejects when it fails.
   */
  forgetHidden(): Promise<void>;
  /** Closes the connection, waits until received changes are reported, and writes the storage. */
  stop(): Promise<void>;
  /**
   * Resolves when it was stopped. Rejects with the CofferError that ended it: `invalid_token` when
   * the session was revoked or has expired, `token_reused` when its refresh token was used
   * elsewhere. Then the storage is cleared.
   */
  readonly ended: Promise<void>;
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
 * Follows a person's vaults: connects repeatedly and applies changes. Returns when the storage is
 * read, before the first connection. Throws CofferError `configuration` without a WebSocket, and
 * when the storage cannot be read or has other content, which stays unchanged.
 */
export async function startSync(as: SyncAs, options: SyncOptions): Promise<Sync> {
  const Socket = options.webSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (Socket === undefined)
    throw new CofferError(
      "configuration",
      "this platform has no WebSocket: Node has it from 22 on, or give `webSocket`",
    );
  const { url, sessions } = as;
  const person = await as.session();
  const { id: userId } = person.user;
  const vaults = asPerson(as.vaults, userId, () => as.session());
  const keeper = await replicaKeeper(person, url, options);
  const { replica } = keeper;
  await Promise.all([...replica.vaults.values()].map((view) => vaults.stored(view)));

  let stopped = false;
  let link: Link | undefined;
  let wake: () => void = () => undefined;
  /** The exception of a listener. Its changes count as unreported. */
  let fault: { error: unknown } | undefined;
  /** Whether a full sync was requested and is incomplete. */
  let fullRequested = false;
  const ready = promised();
  const ended = promised();

  const of: LinkOf = {
    replica,
    vaults,
    Socket,
    url,
    limit: mostPerPage,
    recounted: new Set(),
    quietMilliseconds: options.quietSeconds === undefined ? undefined : options.quietSeconds * 1000,
    take: (step) =>
      keeper.change(async () => {
        const changes = step();
        if (options.onChange === undefined) return changes;
        try {
          const opened = await openChanges(changes, replica, vaults, options.onUnreadable);
          // Also after a stop: the next run would not report stored changes either.
          if (opened.length > 0) options.onChange(opened);
        } catch (error) {
          fault = { error };
          throw error;
        }
        return changes;
      }),
    onLive() {
      if (fullRequested) replica.wholeAt = as.now();
      fullRequested = false;
      if (stopped) return;
      ready.resolve();
      options.onLive?.();
    },
  };

  const once = async (): Promise<{ end: LinkEnd; session?: PersonSession; renewing: boolean }> => {
    let session: PersonSession;
    try {
      session = await sessions.current();
      requirePerson(session, userId);
    } catch (error) {
      return { end: { code: 0, synced: false, error }, renewing: false };
    }
    if (isStopped()) return { end: { code: 0, synced: false }, session, renewing: false };
    const age = as.now() - (replica.wholeAt ?? -Infinity);
    // A clock that was set back must not delay it.
    if (!fullRequested && (age < 0 || age >= wholeMilliseconds)) replica.serverTime = undefined;
    fullRequested ||= replica.serverTime === undefined;
    const current = openLink(of, session.access_token);
    link = current;
    let renewing = false;
    const left = session.access_expires_at * 1000 - as.now() - renewBeforeSeconds(session) * 1000;
    // Keeps the delay within the range of a timer. A timer that fires a moment early would find
    // nothing due.
    const renewal = Math.max(1, Math.min(Math.ceil(left) + 5, 2 ** 31 - 1));
    const timer = setTimeout(() => {
      renewing = true;
      current.retire();
    }, renewal);
    const end = await current.ended;
    clearTimeout(timer);
    return { end, session, renewing };
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !isStopped();) {
      const began = performance.now();
      const { end, session, renewing } = await once();
      if (isStopped()) return;
      if (fault !== undefined) throw fault.error;
      if (end.logout !== undefined) throw endedSession(end.logout);
      let error = end.error === undefined ? undefined : passing(end.error);
      const expired = end.code === 4001;
      if (expired && session !== undefined)
        await sessions.renew(session).catch((reason: unknown) => {
          error = passing(reason);
        });
      if (isStopped()) return;
      if (end.synced) failures = 0;
      const crowded = end.code === tooMany;
      if (end.synced && error === undefined && !crowded && (expired || renewing)) {
        await pause(shortestMilliseconds - (performance.now() - began));
        continue;
      }
      failures += 1;
      const delay = crowded ? crowdedDelay() : reconnectDelay(failures);
      options.onAway?.(error ?? closedBecause(end.code, url), delay / 1000);
      await pause(delay);
    }
  };
  /** Waits, unless it is stopped. */
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, milliseconds));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  // A function, because the compiler does not see that the value changes.
  const isStopped = (): boolean => stopped;

  const unsubscribe = vaults.onUsable(() => link?.reportLate());
  void run().catch(async (error: unknown) => {
    stopped = true;
    unsubscribe();
    await (isCutOff(error) && fault === undefined ? keeper.clear() : keeper.close());
    ready.reject(error);
    ended.reject(error);
  });

  return {
    ready: ready.promise,
    ended: ended.promise,
    vaults() {
      const counts = recordCounts(replica);
      const vaultsHeld = [...replica.vaults.values()].map((view) => vaults.known(view.id)?.vault ?? vaultOf(view));
      return vaultsHeld.map((vault) => ({ ...vault, record_count: counts.get(vault.id) ?? 0 }));
    },
    async records(vaultId) {
      const held = heldRecords(replica).filter((record) => vaultId === undefined || record.vault_id === vaultId);
      const opened = await Promise.all(held.map((record) => openHeld(record, vaults, options.onUnreadable)));
      return opened.filter((record) => record !== undefined);
    },
    async record(id) {
      const held = heldRecord(replica, id);
      return held === undefined ? undefined : openHeld(held, vaults, options.onUnreadable);
    },
    forgetHidden: () => as.forgetHidden([...replica.vaults.keys()]),
    async stop() {
      stopped = true;
      unsubscribe();
      link?.end();
      wake();
      await link?.ended;
      await keeper.close();
      if (fault === undefined) ended.resolve();
      else ended.reject(fault.error);
      ready.reject(new CofferError("network", "the sync was stopped"));
    },
  };
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
