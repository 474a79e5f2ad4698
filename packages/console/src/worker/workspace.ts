import { contexts } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import type {
  AuditHead,
  OfflineStorage,
  PersonClient,
  PersonSession,
  SessionKeeper,
  Sync,
  SyncedRecord,
  TrustRecord,
  TrustStorage,
  Vault,
  VaultRecord,
} from "@coffer/sdk";
import type { AccountSecurity } from "@coffer/sdk/account";
import { indexedDbStorage } from "@coffer/sdk/browser";
import { byName } from "../order.ts";
import type { FromWorker } from "../protocol/calls.ts";
import type { Connection, RecordSummary, VaultSummary } from "../protocol/session.ts";
import { Refusal } from "./failure.ts";
import { sealedStorage } from "./session/sealed-storage.ts";
import type { SealedStorage } from "./session/sealed-storage.ts";
import { recordSummary, vaultSummary } from "./records/summaries.ts";

/** An unlocked session: the client, and what this device knows of its vaults. */
export interface Workspace {
  /** The client for calls about vaults, the account, and the organization that the screens are about. */
  readonly client: PersonClient;
  /** The id of that organization; empty for the one that the person joined first. */
  readonly organization: string;
  /** The client for calls about one organization. */
  inOrganization(id: string): PersonClient;
  /** The end of an organization's audit as this browser has verified it. */
  auditHead(organization: string): SealedStorage<AuditHead>;
  /** The key pins of this browser. */
  pins(): Promise<TrustRecord>;
  connection(): Connection;
  vaults(): VaultSummary[];
  records(): RecordSummary[];
  /** One record, decrypted. Throws Refusal `not_found`. */
  record(id: string): Promise<SyncedRecord>;
  /** Shows a write before the service reports it. */
  written(record: VaultRecord): void;
  removed(id: string): void;
  /** Shows a changed vault before the service reports it. */
  vaultChanged(vault: Vault): void;
  /** Changes of the account that need the password. */
  security(): Promise<AccountSecurity>;
  /** Shows the vaults as the client has just opened them. */
  showVaults(): void;
  /** Waits until this device knows a vault that was just made or accepted. */
  refreshVaults(id: string): Promise<void>;
  close(options: { keepReplica: boolean }): Promise<void>;
}

export interface WorkspaceOptions {
  keeper: SessionKeeper;
  session: PersonSession;
  url: string;
  trust: TrustStorage;
  post: (message: FromWorker) => void;
  /** Called when the connection or the vaults have changed. */
  changed: () => void;
  /** Called when the session was ended elsewhere. */
  ended: () => void;
  /** The id of the organization that the screens are about; empty for the one that the person joined first. */
  organization: () => string;
}

/** Clears the person's replica on this device, where no workspace is open. */
export function clearReplica(userId: string): Promise<void> {
  return replicaOf(userId).clear();
}

/** Opens this device's replica and follows the person's vaults. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { keeper, session, url, trust, post, changed, ended, organization } = options;
  const first = personClient(keeper, url, { trust });
  const inOrganization = (id: string): PersonClient => personClient(keeper, url, { trust, organization: id });
  let current = { id: "", client: first };
  const storage = replicaOf(session.user.id);
  const index = new Map<string, RecordSummary>();
  /** Newer than the snapshot that is read when the replica is open. */
  const touched = new Set<string>();
  const own = new Map<string, SyncedRecord>();
  let vaults: VaultSummary[] = [];
  let connection: Connection = { kind: "connecting" };
  let knownAt: number | null = null;
  let closed = false;
  let waiting: { id: string; done: () => void }[] = [];

  const show = (records: readonly SyncedRecord[], removed: readonly string[]): void => {
    const summaries = records.map(recordSummary);
    for (const summary of summaries) index.set(summary.id, summary);
    for (const id of removed) {
      index.delete(id);
      own.delete(id);
    }
    if (!closed) post({ kind: "records", all: false, changed: summaries, removed: [...removed] });
  };
  const showVaults = (sync: Sync): void => {
    vaults = sync.vaults().map(vaultSummary);
    const ids = new Set(vaults.map(({ id }) => id));
    const gone = [...index.values()].filter(({ vaultId }) => !ids.has(vaultId)).map(({ id }) => id);
    if (gone.length > 0) show([], gone);
    waiting = waiting.filter(({ id, done }) => {
      if (ids.has(id)) done();
      return !ids.has(id);
    });
    if (!closed) changed();
  };

  const opening = Promise.withResolvers<Sync>();
  const sync = await first.sync({
    storage,
    onChange(changes) {
      const records: SyncedRecord[] = [];
      const removed: string[] = [];
      for (const change of changes) {
        if ("record" in change) records.push(change.record);
        else if (change.action === "record_deleted") removed.push(change.record_id);
      }
      for (const { id } of records) own.delete(id);
      for (const id of [...records.map(({ id }) => id), ...removed]) touched.add(id);
      show(records, removed);
      void opening.promise.then(showVaults);
    },
    onLive() {
      connection = { kind: "live" };
      knownAt = Date.now();
      if (!closed) changed();
    },
    onAway() {
      if (connection.kind === "live") knownAt = Date.now();
      connection = { kind: "away", since: knownAt };
      if (!closed) changed();
    },
  });
  sync.ready.catch(() => undefined);
  sync.ended.catch(() => {
    if (!closed) ended();
  });
  for (const record of await sync.records()) if (!touched.has(record.id)) index.set(record.id, recordSummary(record));
  vaults = sync.vaults().map(vaultSummary);
  opening.resolve(sync);

  return {
    get client() {
      const id = organization();
      // The vaults are those that `sync` opens.
      const { vaults, records } = first;
      if (current.id !== id) current = { id, client: id === "" ? first : { ...inOrganization(id), vaults, records } };
      return current.client;
    },
    get organization() {
      return organization();
    },
    inOrganization,
    auditHead: (id) => sealedStorage(session, `coffer audit ${session.user.id} ${id}`, contexts.auditHead(id)),
    pins: () => trust.load(),
    connection: () => connection,
    vaults: () => vaults,
    // Sorted here, so that the page does not stall over thousands of names.
    records: () => [...index.values()].sort(byName),
    async record(id) {
      const found = own.get(id) ?? (await sync.record(id));
      if (found === undefined) throw new Refusal("not_found");
      return found;
    },
    written(record) {
      own.set(record.id, record);
      show([record], []);
    },
    removed(id) {
      show([], [id]);
    },
    vaultChanged(vault) {
      vaults = vaults.map((each) => (each.id === vault.id ? vaultSummary(vault) : each));
      changed();
    },
    async security() {
      const { accountSecurity } = await import("@coffer/sdk/account");
      return accountSecurity(keeper, url);
    },
    showVaults: () => showVaults(sync),
    async refreshVaults(id) {
      showVaults(sync);
      if (vaults.some((vault) => vault.id === id && vault.problem === null)) return;
      await new Promise<void>((done) => {
        waiting.push({ id, done });
        setTimeout(done, 5000);
      });
      showVaults(sync);
    },
    async close({ keepReplica }) {
      closed = true;
      for (const { done } of waiting) done();
      await sync.stop().catch(() => undefined);
      if (!keepReplica) await storage.clear();
    },
  };
}

function replicaOf(userId: string): OfflineStorage {
  return indexedDbStorage(`coffer replica ${userId}`);
}
