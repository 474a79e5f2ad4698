import type { OfflineStorage } from "../offline-transport.ts";
import type { PersonSession } from "../person-session.ts";
import { emptyReplica } from "./replica.ts";
import type { Replica } from "./replica.ts";
import { loadReplica, saveReplica } from "./saved-replica.ts";

/** A replica, and the storage that it is written to. */
export interface ReplicaKeeper {
  readonly replica: Replica;
  /** Writes it before long, since it has changed; with `gone` at once, since the storage holds what must be gone. */
  changed(gone: boolean): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
  /** Forgets what was written. */
  clear(): Promise<void>;
}

/** All of it is written each time: not more often than this. What a crash loses, the next sync brings. */
const saveMilliseconds = 5_000;

/** Reads the replica from the storage; an empty one where there is none, or none of this person's. Throws nothing. */
export async function replicaKeeper(
  session: PersonSession,
  url: string,
  {
    storage,
    onStorageError,
  }: { storage?: OfflineStorage | undefined; onStorageError?: ((error: unknown) => void) | undefined },
): Promise<ReplicaKeeper> {
  const replica = storage === undefined ? emptyReplica() : await read(storage);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let unwritten = false;

  async function read(from: OfflineStorage): Promise<Replica> {
    try {
      return (await loadReplica(from, session, url)) ?? emptyReplica();
    } catch (error) {
      // Another person's, altered or half a file: as good as none, and replaced by the next one.
      onStorageError?.(error);
      return emptyReplica();
    }
  }

  /** One after another, so that the last one wins. */
  const stored = (task: (to: OfflineStorage) => Promise<void>): Promise<void> => {
    if (storage === undefined) return Promise.resolve();
    writing = writing.then(() => task(storage)).catch((error: unknown) => onStorageError?.(error));
    return writing;
  };
  const write = (): Promise<void> => {
    timer = undefined;
    unwritten = false;
    return stored((to) => saveReplica(to, session, url, replica));
  };

  return {
    replica,
    changed(gone) {
      if (storage === undefined) return;
      unwritten = true;
      if (gone) clearTimeout(timer);
      else if (timer !== undefined) return;
      timer = setTimeout(() => void write(), gone ? 0 : saveMilliseconds);
    },
    async close() {
      clearTimeout(timer);
      await (unwritten ? write() : writing);
    },
    async clear() {
      clearTimeout(timer);
      await stored((to) => to.clear());
    },
  };
}
