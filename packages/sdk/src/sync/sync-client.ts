import { CofferError } from "../errors.ts";
import { promised } from "../promised.ts";
import { type Vault, vaultOf } from "../vaults/open-vault.ts";
import { asPerson } from "./as-person.ts";
import type { WebSocketConstructor } from "./connection.ts";
import { follow, type Following, type SyncAs, type SyncOptions } from "./follow.ts";
import { openHeld, type SyncedRecord } from "./open-changes.ts";
import { replicaKeeper } from "./replica-keeper.ts";
import { heldRecord, heldRecords, recordCounts } from "./replica.ts";

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
  const person = await as.session();
  const { id: userId } = person.user;
  const vaults = asPerson(as.vaults, userId, () => as.session());
  const keeper = await replicaKeeper(person, as.url, options);
  const { replica } = keeper;
  await Promise.all([...replica.vaults.values()].map((view) => vaults.stored(view)));

  const following: Following = {
    ...{ as, options, Socket, userId, vaults, keeper, ready: promised(), ended: promised() },
    stopped: false,
    link: undefined,
    wake: () => undefined,
    fault: undefined,
    fullRequested: false,
  };
  void follow(following);

  return {
    ready: following.ready.promise,
    ended: following.ended.promise,
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
    stop: () => stop(following),
  };
}

async function stop(following: Following): Promise<void> {
  const { keeper, ended, ready } = following;
  following.stopped = true;
  following.link?.end();
  following.wake();
  await following.link?.ended;
  await keeper.close();
  if (following.fault === undefined) ended.resolve();
  else ended.reject(following.fault.error);
  ready.reject(new CofferError("network", "the sync was stopped"));
}
