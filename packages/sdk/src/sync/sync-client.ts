import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../offline-transport.ts";
import { renewBeforeSeconds } from "../person-session.ts";
import type { FreshSessions, PersonSession } from "../person-session.ts";
import { vaultOf } from "../vaults/open-vault.ts";
import type { Vault } from "../vaults/open-vault.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { asPerson, requirePerson } from "./as-person.ts";
import { closedBecause, tooMany } from "./closed-because.ts";
import type { WebSocketConstructor } from "./connection.ts";
import { mostPerPage, openLink } from "./link.ts";
import type { Link, LinkEnd, LinkOf } from "./link.ts";
import { openChanges, openHeld } from "./open-changes.ts";
import type { OnUnreadable, SyncChange, SyncedRecord } from "./open-changes.ts";
import { promised } from "../promised.ts";
import { crowdedDelay, reconnectDelay, shortestMilliseconds } from "./reconnect-delay.ts";
import { heldRecord, heldRecords, recordCounts } from "./replica.ts";
import { replicaKeeper } from "./replica-keeper.ts";

export interface SyncOptions {
  /**
   * Hears what has changed, in order; first of all what is new since the storage was written. Only then is it kept there:
   * what a crash comes before, or what it throws at, is told by the next run. What it throws ends the sync.
   */
  onChange?: ((changes: SyncChange[]) => void) | undefined;
  /** Where the device keeps what it holds, sealed, between runs. Not kept unless given. */
  storage?: OfflineStorage | undefined;
  /** Hears that the storage could not be written; everything else goes on. */
  onStorageError?: ((error: unknown) => void) | undefined;
  /** Hears of each record that cannot be opened: another program's, or altered. */
  onUnreadable?: OnUnreadable;
  /** Hears that the device is up to date and hears of changes at once. */
  onLive?: (() => void) | undefined;
  /** Hears why there is no connection, and after how many seconds the next one is tried. */
  onAway?: ((error: CofferError, retrySeconds: number) => void) | undefined;
  /** Silence after which the service is asked whether it is still there. Default 45; 120 where pings are not seen. */
  quietSeconds?: number | undefined;
  /** The platform's own unless given. */
  webSocket?: WebSocketConstructor | undefined;
}

/**
 * After so long everything is asked for once more. What the service left out, or gave a time that is yet to come, would stay as
 * it was for good: a device asks for what is new since the last answer, and takes only what is newer.
 */
const wholeMilliseconds = 24 * 60 * 60 * 1000;

/** A device that follows the changes of its person's vaults. */
export interface Sync {
  /** Resolves when the device is up to date for the first time. Rejects when it ended before. */
  readonly ready: Promise<void>;
  /** The vaults as they are known, also while there is no connection. */
  vaults(): Vault[];
  /** All records that are held and can be opened, or those of one vault. */
  records(vaultId?: string): Promise<SyncedRecord[]>;
  record(id: string): Promise<SyncedRecord | undefined>;
  /**
   * Forgets in the client's `trust` all vaults that are not in sight: for a device whose person travels, when it is up to date.
   * Rejects when they cannot be forgotten.
   */
  forgetHidden(): Promise<void>;
  /** Closes the connection, waits until what is under way has been told, and writes what is held into the storage. */
  stop(): Promise<void>;
  /**
   * Resolves when it was stopped. Rejects with the CofferError that ended it: `invalid_token` when the session was
   * revoked or is over, `token_reused` when somebody else had its refresh token. What the storage held is cleared then.
   */
  readonly ended: Promise<void>;
}

export interface SyncAs {
  url: string;
  sessions: FreshSessions;
  /** The session as it is, without a word to the service. */
  session(): Promise<PersonSession>;
  vaults: VaultStore;
  /** Forgets what is trusted of all vaults but these. */
  forgetHidden(vaultIds: readonly string[]): Promise<void>;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Follows a person's vaults: connects, again and again, and keeps up. Returns when the storage is read, before the first
 * connection. Throws CofferError `configuration` where there is no WebSocket, and when the storage cannot be read or holds
 * anything but what was kept for this person of this service: it is left as it is.
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
  /** What a listener threw: what it was to be told is not told. */
  let fault: { error: unknown } | undefined;
  /** Whether everything was asked for, and has not come yet. */
  let wholeAsked = false;
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
          // Also when it was stopped meanwhile: what is held and was never told would not be told by the next run either.
          if (opened.length > 0) options.onChange(opened);
        } catch (error) {
          fault = { error };
          throw error;
        }
        return changes;
      }),
    onLive() {
      if (wholeAsked) replica.wholeAt = as.now();
      wholeAsked = false;
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
    // A clock that was set back must not put it off.
    if (!wholeAsked && (age < 0 || age >= wholeMilliseconds)) replica.serverTime = undefined;
    wholeAsked ||= replica.serverTime === undefined;
    const current = openLink(of, session.access_token);
    link = current;
    let renewing = false;
    const left = session.access_expires_at * 1000 - as.now() - renewBeforeSeconds(session) * 1000;
    // A longer time does not fit a timer, nor does one that is over; one that goes off a moment early would find nothing due.
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
  /** Waits, unless it is stopped meanwhile. */
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, milliseconds));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  // Read through a function: that it changes meanwhile is not seen by the compiler.
  const isStopped = (): boolean => stopped;

  const unsubscribe = vaults.onUsable(() => link?.tellLate());
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

/** Whether the person may not do this any more, whatever is tried, by the word of the service or of the session's keeper. */
function isCutOff(error: unknown): boolean {
  return (
    error instanceof CofferError && !error.foreign && (error.code === "invalid_token" || error.code === "token_reused")
  );
}

/** An error after which another attempt may go well. Throws every other: what is no CofferError is a listener's fault. */
function passing(error: unknown): CofferError {
  if (error instanceof CofferError && !isCutOff(error) && error.code !== "configuration") return error;
  throw error;
}
