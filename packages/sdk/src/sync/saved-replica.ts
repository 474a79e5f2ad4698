import { box, cacheKey, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { OfflineStorage } from "../offline-transport.ts";
import type { PersonSession } from "../person-session.ts";
import { refusedStorage, storedBox } from "../stored-box.ts";
import type { VaultView } from "../vaults/views.ts";
import { heldRecords } from "./replica.ts";
import type { HeldRecord, RecordChange, Replica } from "./replica.ts";

interface Saved {
  version: number;
  url: string;
  server_time: string;
  /** Absent from what earlier versions wrote. */
  whole_at?: number | undefined;
  vaults: VaultView[];
  records: HeldRecord[];
  /** Absent from what earlier versions wrote. */
  untold?: [id: string, action: RecordChange["action"], tried?: number | null][];
}

/**
 * What the storage holds of this person at this service; undefined when it holds nothing.
 * Throws CofferError `configuration` when it cannot be read or holds anything else: another person's or service's, or what
 * was altered. Which of these it is cannot be told, and neither is replaced.
 */
export async function loadReplica(
  storage: OfflineStorage,
  session: PersonSession,
  url: string,
): Promise<Replica | undefined> {
  const text = await storedBox(storage);
  if (text === undefined) return undefined;
  const opened = await unboxBound(await keyOf(session), text, contexts.replica(session.user.id)).catch(
    (cause: unknown) => {
      throw refusedStorage(storage, "holds what was kept for somebody else, or what was altered since", cause);
    },
  );
  const saved = JSON.parse(decodeText(opened)) as Saved; // we sealed it
  if (saved.version !== 1) throw refusedStorage(storage, "was written by a later version");
  if (saved.url !== url) throw refusedStorage(storage, `holds what was kept of ${saved.url}, and this is ${url}`);
  return {
    serverTime: saved.server_time,
    wholeAt: saved.whole_at,
    vaults: new Map(saved.vaults.map((view) => [view.id, view])),
    records: new Map(saved.records.map((record) => [record.id, record])),
    before: undefined,
    untold: new Map((saved.untold ?? []).map(([id, action, tried = null]) => [id, { action, tried }])),
  };
}

/**
 * Seals a replica into the storage, all of it. `serverTime` is up to where it was complete the last time: while everything
 * comes anew that is continued from, half of an answer cannot be. Throws what the storage throws.
 */
export async function saveReplica(
  storage: OfflineStorage,
  session: PersonSession,
  url: string,
  replica: Replica,
  serverTime: string,
): Promise<void> {
  const saved: Saved = {
    version: 1,
    url,
    server_time: serverTime,
    whole_at: replica.wholeAt,
    vaults: [...replica.vaults.values()],
    records: heldRecords(replica),
    untold: [...replica.untold].map(([id, { action, tried }]) => [id, action, tried]),
  };
  await storage.save(
    await box(await keyOf(session), encodeText(JSON.stringify(saved)), contexts.replica(session.user.id)),
  );
}

function keyOf(session: PersonSession): Promise<Uint8Array> {
  return cacheKey(decodeBase64(session.user_key));
}
