import { box, cacheKey, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { OfflineStorage } from "../http/offline-transport.ts";
import { refusedStorage, storedBox } from "../http/stored-box.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { VaultView } from "../vaults/views.ts";
import { type HeldRecord, heldRecords, type RecordChange, type Replica } from "./replica.ts";

interface Saved {
  version: number;
  url: string;
  server_time: string;
  /** Absent in files of earlier versions. */
  whole_at?: number | undefined;
  vaults: VaultView[];
  records: HeldRecord[];
  /** Absent in files of earlier versions. */
  untold?: [id: string, action: RecordChange["action"], tried?: number | null][];
}

/**
 * The stored replica of this person at this service; undefined when there is none. Throws
 * CofferError `configuration` when it cannot be read or has other content: another person's or
 * service's, or altered. These cases are indistinguishable, and the content is not replaced.
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
      throw refusedStorage(storage, "holds data of another person, or data that was altered", cause);
    },
  );
  const saved = JSON.parse(decodeText(opened)) as Saved; // we sealed it
  if (saved.version !== 1) throw refusedStorage(storage, "was written by a later version");
  if (saved.url !== url) throw refusedStorage(storage, `holds data of ${saved.url}, not of ${url}`);
  return {
    serverTime: saved.server_time,
    wholeAt: saved.whole_at,
    vaults: new Map(saved.vaults.map((view) => [view.id, view])),
    records: new Map(saved.records.map((record) => [record.id, record])),
    before: undefined,
    unreported: new Map((saved.untold ?? []).map(([id, action, tried = null]) => [id, { action, tried }])),
  };
}

/**
 * Seals a replica into the storage. `serverTime` is the moment up to which it was last complete:
 * during a full sync, half of a response cannot be continued. Throws what the storage throws.
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
    untold: [...replica.unreported].map(([id, { action, tried }]) => [id, action, tried]),
  };
  await storage.save(
    await box(await keyOf(session), encodeText(JSON.stringify(saved)), contexts.replica(session.user.id)),
  );
}

function keyOf(session: PersonSession): Promise<Uint8Array> {
  return cacheKey(decodeBase64(session.user_key));
}
