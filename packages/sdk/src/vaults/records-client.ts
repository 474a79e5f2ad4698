import { stableIds } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { changeRecord, createRecord, updateRecord, viewOf } from "./change-record.ts";
import type { RecordChange } from "./change-record.ts";
import { importRecords } from "./import-records.ts";
import type { ImportOptions, ImportResult, NewRecord } from "./import-records.ts";
import { vaultKeyOf } from "./open-vault.ts";
import { openRecord } from "./sealed-record.ts";
import type { VaultRecord } from "./sealed-record.ts";
import { allPages, recordPath, vaultPath } from "./vault-store.ts";
import type { VaultStore } from "./vault-store.ts";
import type { RecordView } from "./views.ts";

export interface RecordFilter {
  type?: string | undefined;
  /** ISO 8601: what changed at this time or later. */
  updatedSince?: string | undefined;
}

/** Records of vaults, decrypted. Every method throws CofferError. */
export interface RecordsClient {
  list(vaultId: string, filter?: RecordFilter): Promise<VaultRecord[]>;
  get(vaultId: string, id: string): Promise<VaultRecord>;
  create(vaultId: string, record: NewRecord): Promise<VaultRecord>;
  /**
   * Replaces a record: the last one to write wins. With `unchangedSince`, the `updated_at` that the caller has seen, a
   * record that was changed since is left alone, and the error is `precondition_failed`.
   */
  update(
    vaultId: string,
    id: string,
    change: RecordChange,
    options?: { unchangedSince?: string | undefined },
  ): Promise<VaultRecord>;
  /** Reads, changes and writes, and starts over when somebody else wrote in between. */
  change(vaultId: string, id: string, change: (record: VaultRecord) => RecordChange): Promise<VaultRecord>;
  /** It cannot be undone. */
  remove(vaultId: string, id: string): Promise<void>;
  /**
   * Makes many records, in pieces of 1,000. One that is wrong or too large fails alone; when a piece cannot be sent at
   * all, that is thrown, and the pieces before it are made.
   */
  import(vaultId: string, records: readonly NewRecord[], options?: ImportOptions): Promise<ImportResult>;
  /**
   * Ids for records that follow from the vault and a text each: an import that is done again with them finds what the
   * first has made, since a taken id is an error of that record alone. The service learns nothing of the texts.
   */
  stableIds(vaultId: string, texts: readonly string[]): Promise<string[]>;
}

export interface RecordsClientOptions {
  /** Hears of each record that a list leaves out because it cannot be opened: another program's, or altered. */
  onUnreadable?: ((id: string, error: CofferError) => void) | undefined;
}

export function recordsClient(store: VaultStore, { onUnreadable }: RecordsClientOptions): RecordsClient {
  return {
    async list(vaultId, { type, updatedSince } = {}) {
      const query = { type, updated_since: updatedSince };
      const views = await allPages<RecordView>(store.send, `${vaultPath(vaultId)}/records`, query);
      const vault = await store.one(vaultId);
      if (views.some((view) => view.vault_id !== vault.vault.id))
        throw new CofferError("bad_answer", `the service listed records of another vault than ${vaultId}`);
      const opening = views.map(async (view) => {
        try {
          return [await openRecord(vault, view)];
        } catch (error) {
          if (vault.key === null || !(error instanceof CofferError)) throw error;
          onUnreadable?.(view.id, error);
          return [];
        }
      });
      return (await Promise.all(opening)).flat();
    },
    get: async (vaultId, id) => openRecord(await store.one(vaultId), await viewOf(store, vaultId, id)),
    create: (vaultId, record) => createRecord(store, vaultId, record),
    update: (vaultId, id, change, { unchangedSince } = {}) => updateRecord(store, vaultId, id, change, unchangedSince),
    change: (vaultId, id, change) => changeRecord(store, vaultId, id, change),
    async remove(vaultId, id) {
      await store.send({ method: "DELETE", path: recordPath(vaultId, id) });
    },
    stableIds: async (vaultId, texts) => stableIds(vaultKeyOf(await store.one(vaultId)), texts),
    import: async (vaultId, records, options) => importRecords(store, await store.one(vaultId), records, options),
  };
}
