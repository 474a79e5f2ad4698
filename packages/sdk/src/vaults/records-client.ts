import { stableIds } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { ApiRequest } from "../http/transport.ts";
import { changeRecord, createRecord, readRecord, type RecordChange, updateRecord } from "./change-record.ts";
import { type ImportOptions, importRecords, type ImportResult, type NewRecord } from "./import-records.ts";
import { type OpenVault, usableVaultKeyOf, vaultKeyOf } from "./open-vault.ts";
import { openRecord, type VaultRecord } from "./sealed-record.ts";
import { recordPath, vaultPath } from "./vault-path.ts";
import { allPages, type VaultStore } from "./vault-store.ts";
import type { RecordView } from "./views.ts";

export interface RecordFilter {
  type?: string | undefined;
  /** ISO 8601: changed at this time or later. */
  updatedSince?: string | undefined;
}

/** Records of vaults, decrypted. Every method throws CofferError. */
export interface RecordsClient {
  list(vaultId: string, filter?: RecordFilter): Promise<VaultRecord[]>;
  get(vaultId: string, id: string): Promise<VaultRecord>;
  create(vaultId: string, record: NewRecord): Promise<VaultRecord>;
  /**
   * Replaces a record; the last write wins. With `unchangedSince`, the `updated_at` that the caller
   * knows, a record that was changed since is not written, and the error is `precondition_failed`.
   */
  update(
    vaultId: string,
    id: string,
    change: RecordChange,
    options?: { unchangedSince?: string | undefined },
  ): Promise<VaultRecord>;
  /** Reads, changes and writes, and restarts after a concurrent write. */
  change(vaultId: string, id: string, change: (record: VaultRecord) => RecordChange): Promise<VaultRecord>;
  /** It cannot be undone. */
  remove(vaultId: string, id: string): Promise<void>;
  /**
   * Creates many records, in chunks of 1,000. An invalid or too large record fails alone. Throws
   * when a chunk cannot be sent; earlier chunks are stored.
   */
  import(vaultId: string, records: readonly NewRecord[], options?: ImportOptions): Promise<ImportResult>;
  /**
   * Ids that are derived from the vault and a text each. A repeated import with them finds the
   * records of the first, since a taken id is an error of that record alone. The ids disclose
   * nothing about the texts.
   */
  stableIds(vaultId: string, texts: readonly string[]): Promise<string[]>;
}

export interface RecordsClientOptions {
  /**
   * Called for each record that a list omits because it cannot be opened: another program's, or an
   * altered one.
   */
  onUnreadable?: ((id: string, error: CofferError) => void) | undefined;
}

export function recordsClient(store: VaultStore, { onUnreadable }: RecordsClientOptions): RecordsClient {
  return {
    async list(vaultId, { type, updatedSince } = {}) {
      const query = { type, updated_since: updatedSince };
      const { records, unreadable } = await openedList(store, vaultId, query);
      for (const [id, error] of unreadable) onUnreadable?.(id, error);
      return records;
    },
    get: (vaultId, id) => readRecord(store, vaultId, id),
    create: (vaultId, record) => createRecord(store, vaultId, record),
    update: (vaultId, id, change, { unchangedSince } = {}) => updateRecord(store, vaultId, id, change, unchangedSince),
    change: (vaultId, id, change) => changeRecord(store, vaultId, id, change),
    async remove(vaultId, id) {
      await store.send({ method: "DELETE", path: recordPath(vaultId, id) });
    },
    stableIds: async (vaultId, texts) => stableIds(await usableVaultKeyOf(await store.toRead(vaultId)), texts),
    import: (vaultId, records, options) => importRecords(store, vaultId, records, options),
  };
}

interface OpenedList {
  records: VaultRecord[];
  unreadable: [id: string, error: CofferError][];
}

/** How often a list is read again after a concurrent rotation. */
const rounds = 5;

/** The records of a vault, opened with the key that all of them share. Throws CofferError. */
async function openedList(store: VaultStore, vaultId: string, query: ApiRequest["query"]): Promise<OpenedList> {
  let vault = await store.toRead(vaultId);
  for (let round = 1; ; round += 1) {
    const views = await allPages<RecordView>(store.send, `${vaultPath(vaultId)}/records`, query);
    if (views.some((view) => view.vault_id !== vault.vault.id))
      throw new CofferError("bad_answer", `the service listed records of another vault than ${vaultId}`);
    const opened = await openAll(vault, views);
    if (opened.unreadable.length === 0 || round === rounds) return opened;
    const { key_version: before } = vault.vault;
    vault = await store.fresh(vaultId);
    if (vault.vault.key_version === before) return opened;
  }
}

async function openAll(vault: OpenVault, views: readonly RecordView[]): Promise<OpenedList> {
  const list: OpenedList = { records: [], unreadable: [] };
  if (views.length > 0) vaultKeyOf(vault);
  const opening = views.map((view) =>
    openRecord(vault, view).catch((error: unknown) => {
      if (error instanceof CofferError) return error;
      throw error;
    }),
  );
  for (const [index, opened] of (await Promise.all(opening)).entries())
    if (opened instanceof CofferError) list.unreadable.push([views[index]?.id ?? "", opened]);
    else list.records.push(opened);
  return list;
}
