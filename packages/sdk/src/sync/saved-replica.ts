import { box, cacheKey, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { OfflineStorage } from "../offline-transport.ts";
import type { PersonSession } from "../person-session.ts";
import type { VaultView } from "../vaults/views.ts";
import type { HeldRecord, Replica } from "./replica.ts";

interface Saved {
  version: number;
  url: string;
  server_time: string;
  vaults: VaultView[];
  records: HeldRecord[];
}

/**
 * What the storage holds of this person at this service; undefined when it holds nothing of the kind.
 * Throws what the storage throws, and CryptoError for another person's, or what was altered.
 */
export async function loadReplica(
  storage: OfflineStorage,
  session: PersonSession,
  url: string,
): Promise<Replica | undefined> {
  const text = await storage.load();
  if (text === undefined) return undefined;
  const opened = decodeText(await unboxBound(await keyOf(session), text.trim(), contexts.replica(session.user.id)));
  const saved = JSON.parse(opened) as Saved; // we sealed it
  if (saved.version !== 1 || saved.url !== url) return undefined;
  return {
    serverTime: saved.server_time,
    vaults: new Map(saved.vaults.map((view) => [view.id, view])),
    records: new Map(saved.records.map((record) => [record.id, record])),
    before: undefined,
  };
}

/**
 * Seals a replica into the storage, all of it. Nothing is written while everything comes anew: what was saved last can
 * be continued from, half of an answer cannot. Throws what the storage throws.
 */
export async function saveReplica(
  storage: OfflineStorage,
  session: PersonSession,
  url: string,
  replica: Replica,
): Promise<void> {
  if (replica.serverTime === undefined || replica.before !== undefined) return;
  const saved: Saved = {
    version: 1,
    url,
    server_time: replica.serverTime,
    vaults: [...replica.vaults.values()],
    records: [...replica.records.values()],
  };
  await storage.save(
    await box(await keyOf(session), encodeText(JSON.stringify(saved)), contexts.replica(session.user.id)),
  );
}

function keyOf(session: PersonSession): Promise<Uint8Array> {
  return cacheKey(decodeBase64(session.user_key));
}
