import { CofferError } from "../errors.ts";
import type { OfflineStorage } from "../offline-transport.ts";
import { renewBeforeSeconds } from "../person-session.ts";
import type { FreshSessions, PersonSession } from "../person-session.ts";
import { vaultOf } from "../vaults/open-vault.ts";
import type { Vault } from "../vaults/open-vault.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { closedBecause } from "./closed-because.ts";
import type { WebSocketConstructor } from "./connection.ts";
import { mostPerPage, openLink } from "./link.ts";
import type { Link, LinkEnd, LinkOf } from "./link.ts";
import { openChanges, openHeld } from "./open-changes.ts";
import type { OnUnreadable, SyncChange, SyncedRecord } from "./open-changes.ts";
import { promised } from "./promised.ts";
import { reconnectDelay } from "./reconnect-delay.ts";
import { replicaKeeper } from "./replica-keeper.ts";

export interface SyncOptions {
  /** Hears what has changed, in order; first of all what is new since the storage was written. */
  onChange?: ((changes: SyncChange[]) => void) | undefined;
  /** Where the device keeps what it holds, sealed, between runs. Not kept unless given. */
  storage?: OfflineStorage | undefined;
  /** Hears that the storage failed; everything else goes on. */
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

/** A device that follows the changes of its person's vaults. */
export interface Sync {
  /** Resolves when the device is up to date for the first time. Rejects when it ended before. */
  readonly ready: Promise<void>;
  /** The vaults as they are known, also while there is no connection. */
  vaults(): Vault[];
  /** All records that are held and can be opened, or those of one vault. */
  records(vaultId?: string): Promise<SyncedRecord[]>;
  record(id: string): Promise<SyncedRecord | undefined>;
  /** Closes the connection and writes what is held into the storage. */
  stop(): Promise<void>;
  /**
   * Resolves when it was stopped. Rejects with the CofferError that ended it: `invalid_token` when the session was
   * revoked or is over. What the storage held is cleared then.
   */
  readonly ended: Promise<void>;
}

export interface SyncAs {
  url: string;
  sessions: FreshSessions;
  /** The session as it is, without a word to the service. */
  session(): Promise<PersonSession>;
  vaults: VaultStore;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Follows a person's vaults: connects, again and again, and keeps up. Returns when the storage is read, before the first
 * connection. Throws CofferError `configuration` where there is no WebSocket.
 */
export async function startSync(as: SyncAs, options: SyncOptions): Promise<Sync> {
  const Socket = options.webSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
  if (Socket === undefined)
    throw new CofferError(
      "configuration",
      "this platform has no WebSocket: Node has it from 22 on, or give `webSocket`",
    );
  const { url, vaults, sessions } = as;
  const keeper = await replicaKeeper(await as.session(), url, options);
  const { replica } = keeper;
  await Promise.all([...replica.vaults.values()].map((view) => vaults.seen(view)));

  let stopped = false;
  let link: Link | undefined;
  let wake: () => void = () => undefined;
  const ready = promised();
  const ended = promised();

  const of: LinkOf = {
    replica,
    vaults,
    Socket,
    url,
    limit: mostPerPage,
    quietMilliseconds: options.quietSeconds === undefined ? undefined : options.quietSeconds * 1000,
    async onChanges(changes) {
      keeper.changed(changes.some(({ action }) => action.endsWith("_deleted")));
      if (options.onChange === undefined || changes.length === 0) return;
      const opened = await openChanges(changes, replica, vaults, options.onUnreadable);
      if (opened.length > 0 && !stopped) options.onChange(opened);
    },
    onLive() {
      ready.resolve();
      options.onLive?.();
    },
  };

  const once = async (): Promise<{ end: LinkEnd; session?: PersonSession; renewing: boolean }> => {
    let session: PersonSession;
    try {
      session = await sessions.current();
    } catch (error) {
      return { end: { code: 0, synced: false, error }, renewing: false };
    }
    const current = openLink(of, session.access_token);
    link = current;
    let renewing = false;
    const left = session.access_expires_at * 1000 - as.now() - renewBeforeSeconds * 1000;
    // A longer time does not fit a timer; and one that goes off a moment early would find nothing due.
    const renewal = Math.min(Math.ceil(left) + 5, 2 ** 31 - 1);
    const timer = setTimeout(() => {
      renewing = true;
      current.retire();
    }, renewal);
    if (isStopped()) current.end();
    const end = await current.ended;
    clearTimeout(timer);
    return { end, session, renewing };
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !isStopped();) {
      const { end, session, renewing } = await once();
      if (isStopped()) return;
      if (end.logout !== undefined) throw endedSession(end.logout);
      let error = end.error === undefined ? undefined : passing(end.error);
      const expired = end.code === 4001;
      if (expired && session !== undefined)
        await sessions.renew(session).catch((reason: unknown) => {
          error = passing(reason);
        });
      if (end.synced) failures = 0;
      if (end.synced && error === undefined && (expired || renewing)) continue;
      failures += 1;
      const delay = reconnectDelay(failures);
      options.onAway?.(error ?? closedBecause(end.code, url), delay / 1000);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delay);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  // Read through a function: that it changes meanwhile is not seen by the compiler.
  const isStopped = (): boolean => stopped;

  void run().catch(async (error: unknown) => {
    stopped = true;
    await (isCutOff(error) ? keeper.clear() : keeper.close());
    ready.reject(error);
    ended.reject(error);
  });

  return {
    ready: ready.promise,
    ended: ended.promise,
    vaults: () => [...replica.vaults.values()].map((view) => ({ ...vaultOf(view), record_count: countIn(view.id) })),
    async records(vaultId) {
      const held = [...replica.records.values()].filter(
        (record) => vaultId === undefined || record.vault_id === vaultId,
      );
      const opened = await Promise.all(held.map((record) => openHeld(record, vaults, options.onUnreadable)));
      return opened.filter((record) => record !== undefined);
    },
    async record(id) {
      const held = replica.records.get(id);
      return held === undefined ? undefined : openHeld(held, vaults, options.onUnreadable);
    },
    async stop() {
      stopped = true;
      link?.end();
      wake();
      await link?.ended;
      await keeper.close();
      ended.resolve();
      ready.reject(new CofferError("network", "the sync was stopped"));
    },
  };

  function countIn(vaultId: string): number {
    let count = 0;
    for (const record of replica.records.values()) if (record.vault_id === vaultId) count += 1;
    return count;
  }
}

function endedSession(reason: string): CofferError {
  return new CofferError("invalid_token", `the session was ended (${reason}): log in again`);
}

/** Whether the person may not do this any more, whatever is tried. */
function isCutOff(error: unknown): boolean {
  return error instanceof CofferError && (error.code === "invalid_token" || error.code === "token_reused");
}

/** An error after which another attempt may go well. Throws every other: what is no CofferError is a listener's fault. */
function passing(error: unknown): CofferError {
  if (error instanceof CofferError && !isCutOff(error) && error.code !== "configuration") return error;
  throw error;
}
