import type { OfflineStorage } from "../offline-transport.ts";
import type { PersonSession } from "../person-session.ts";
import type { VaultKeyMarks } from "../vaults/known-vault-keys.ts";
import { emptyReplica } from "./replica.ts";
import type { Replica } from "./replica.ts";
import { loadReplica, saveReplica } from "./saved-replica.ts";

/** A replica, and the storage that it is written to. */
export interface ReplicaKeeper {
  readonly replica: Replica;
  /** Writes it before long, since it has changed; with `gone` at once, since the storage holds what must be gone. */
  changed(gone: boolean): void;
  /** Writes what is not written yet, and nothing after it. */
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
  keyMarks: VaultKeyMarks,
  {
    storage,
    onStorageError,
  }: { storage?: OfflineStorage | undefined; onStorageError?: ((error: unknown) => void) | undefined },
): Promise<ReplicaKeeper> {
  const held = storage === undefined ? undefined : await loadReplica(storage, session, url, keyMarks);
  const replica = held ?? emptyReplica();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let unwritten = false;
  let closed = false;

  /** One after another, so that the last one wins. */
  const stored = (task: (to: OfflineStorage) => Promise<void>): Promise<void> => {
    if (storage === undefined) return Promise.resolve();
    writing = writing.then(() => task(storage)).catch((error: unknown) => onStorageError?.(error));
    return writing;
  };
  const write = (): Promise<void> => {
    timer = undefined;
    unwritten = false;
    return stored((to) => saveReplica(to, session, url, replica, keyMarks));
  };

  return {
    replica,
    changed(gone) {
      if (storage === undefined || closed) return;
      unwritten = true;
      if (gone) clearTimeout(timer);
      else if (timer !== undefined) return;
      timer = setTimeout(() => void write(), gone ? 0 : saveMilliseconds);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await (unwritten ? write() : writing);
    },
    async clear() {
      closed = true;
      clearTimeout(timer);
      // What is not written yet must not be by a later `close`.
      unwritten = false;
      await stored((to) => to.clear());
    },
  };
}
