import type { OfflineStorage } from "../http/offline-transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { emptyReplica, type Replica, type ReplicaChange } from "./replica.ts";
import { loadReplica, saveReplica } from "./saved-replica.ts";

/** A replica with its storage. */
export interface ReplicaKeeper {
  readonly replica: Replica;
  /**
   * Lets `report` change the replica and notify the listener, and only then writes it: soon, or at
   * once when the storage contains deleted data. Rejects with what `report` throws, and then writes
   * nothing more: an unreported change would never be reported.
   */
  change(report: () => Promise<readonly ReplicaChange[]>): Promise<void>;
  /** Writes pending changes, and nothing afterwards. */
  close(): Promise<void>;
  /** Clears the storage. Nothing is written afterwards. */
  clear(): Promise<void>;
}

/**
 * Each write contains everything, so this limits the rate. The next sync restores what a crash
 * loses.
 */
const saveMilliseconds = 5_000;

/**
 * Reads the replica from the storage; empty without a stored one. Throws CofferError
 * `configuration` when the storage cannot be read or has other content, and leaves it unchanged.
 */
export async function replicaKeeper(
  session: PersonSession,
  url: string,
  {
    storage,
    onStorageError,
  }: { storage?: OfflineStorage | undefined; onStorageError?: ((error: unknown) => void) | undefined },
): Promise<ReplicaKeeper> {
  const held = storage === undefined ? undefined : await loadReplica(storage, session, url);
  const replica = held ?? emptyReplica();
  /** The moment up to which the replica was last complete. */
  let complete = replica.serverTime;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let unwritten = false;
  /** Whether the storage contains deleted data. */
  let stale = false;
  let reporting = false;
  /** Whether a write was due while a change was unreported. */
  let due = false;
  let closed = false;
  let cleared = false;

  /** Writes are serialized, so that the last one wins. */
  const stored = (task: (to: OfflineStorage) => Promise<void>): Promise<void> => {
    if (storage === undefined) return Promise.resolve();
    writing = writing.then(() => task(storage)).catch((error: unknown) => onStorageError?.(error));
    return writing;
  };

  const save = async (to: OfflineStorage): Promise<void> => {
    due = reporting;
    if (reporting || cleared || complete === undefined) return;
    const leaving = stale;
    unwritten = stale = false;
    try {
      await saveReplica(to, session, url, replica, complete);
    } catch (error) {
      unwritten = true;
      stale ||= leaving;
      // Storing nothing and syncing everything again is better than keeping deleted data.
      if (stale) await to.clear();
      stale = false;
      throw error;
    }
  };
  const write = (): Promise<void> => {
    timer = undefined;
    return stored(save);
  };

  return {
    replica,
    async change(report) {
      reporting = true;
      const changes = await report();
      reporting = false;
      if (replica.before === undefined) complete = replica.serverTime ?? complete;
      unwritten = true;
      stale ||= changes.some(({ action }) => action.endsWith("_deleted"));
      if (storage === undefined || closed) return;
      if (stale || due) clearTimeout(timer);
      else if (timer !== undefined) return;
      timer = setTimeout(() => void write(), stale || due ? 0 : saveMilliseconds);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await (unwritten ? write() : writing);
    },
    async clear() {
      closed = cleared = true;
      clearTimeout(timer);
      await stored((to) => to.clear());
    },
  };
}
