import type { OfflineStorage } from "../offline-transport.ts";
import type { PersonSession } from "../person-session.ts";
import { emptyReplica } from "./replica.ts";
import type { Replica, ReplicaChange } from "./replica.ts";
import { loadReplica, saveReplica } from "./saved-replica.ts";

/** A replica, and the storage that it is written to. */
export interface ReplicaKeeper {
  readonly replica: Replica;
  /**
   * Lets `tell` change the replica and tell of it; only then is it written: before long, and at once when the storage holds
   * what must be gone. Rejects with what `tell` throws, and nothing is written any more: what was not told would not come
   * again.
   */
  change(tell: () => Promise<readonly ReplicaChange[]>): Promise<void>;
  /** Writes what is not written yet, or could not be, and nothing after it. */
  close(): Promise<void>;
  /** Forgets what was written; nothing is written any more. */
  clear(): Promise<void>;
}

/** All of it is written each time: not more often than this. What a crash loses, the next sync brings. */
const saveMilliseconds = 5_000;

/**
 * Reads the replica from the storage; an empty one where there is none.
 * Throws CofferError `configuration` when the storage cannot be read or holds anything else: it is left as it is.
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
  /** Up to where the replica was complete the last time. */
  let complete = replica.serverTime;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let unwritten = false;
  /** Whether the storage holds what must be gone. */
  let stale = false;
  let telling = false;
  /** Whether it was to be written while there was something untold. */
  let due = false;
  let closed = false;
  let cleared = false;

  /** One after another, so that the last one wins. */
  const stored = (task: (to: OfflineStorage) => Promise<void>): Promise<void> => {
    if (storage === undefined) return Promise.resolve();
    writing = writing.then(() => task(storage)).catch((error: unknown) => onStorageError?.(error));
    return writing;
  };

  const save = async (to: OfflineStorage): Promise<void> => {
    due = telling;
    if (telling || cleared || complete === undefined) return;
    const leaving = stale;
    unwritten = stale = false;
    try {
      await saveReplica(to, session, url, replica, complete);
    } catch (error) {
      unwritten = true;
      stale ||= leaving;
      // Rather nothing is kept, and everything comes again, than what must be gone.
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
    async change(tell) {
      telling = true;
      const changes = await tell();
      telling = false;
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
