import { box, contexts, encodeRecord, newId } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { nextKey, type RotationReport } from "../histories/next-key.ts";
import { batchesOf } from "../http/batches.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { viewOf } from "./change-record.ts";
import { type OpenVault, type Vault, vaultAt, vaultKeyOf } from "./open-vault.ts";
import { openFields } from "./sealed-record.ts";
import { vaultPath } from "./vault-path.ts";
import { allPages, listedMembers, type VaultStore } from "./vault-store.ts";
import type { RecordView, VaultView } from "./views.ts";

/** A vault after its rotation. */
export type RotatedVault = Vault &
  RotationReport & {
    /**
     * Ids of records that the current key did not open. They are stored unchanged, and no new key
     * opens them.
     */
    unopened: string[];
  };

/** A record that is sealed with the next key. */
interface Resealed {
  id: string;
  /** The `updated_at` of the opened record. The rotation is refused if it has changed since. */
  updated_at: string;
  encrypted_data: string;
}

/**
 * The service accepts 32 MiB per request. The difference is for the JSON around the ciphertexts.
 */
const mostRecords = 1000;
const mostCharacters = 28 * 1024 * 1024;
/** How many records are sealed concurrently. */
const atOnce = 64;

/**
 * Gives a vault a new key: seals it to every member that the history confirms, and all records
 * under it. Members that the service no longer lists are dropped from the history. The rotation is
 * atomic: what exceeds one request is staged first. A record that does not open is reported in
 * `unopened`. Throws CofferError `access_denied` when the caller does not manage the vault,
 * `conflict` after repeated concurrent writes, `bad_answer` when the response does not confirm the
 * rotation, and the reason of an unusable key.
 */
export async function rotateVault(store: VaultStore, trust: PersonTrust, id: string): Promise<RotatedVault> {
  const { vault, keyError } = await store.toWrite(id);
  // A shared vault that is shown as personal does not open.
  if (vault.type === "personal")
    throw (
      keyError ?? new CofferError("invalid_request", `${vault.name} is a personal vault: no one else has had its key`)
    );
  const make: Parameters<typeof trust.sign<Done>>[1] = async (trusted, organization) => {
    const { state } = trusted;
    const open = await vaultAt(store, id, state.ver);
    vaultKeyOf(open);
    const listed = await listedMembers(store.send, id);
    const { who: self } = await trust.self();
    const views = await allPages<RecordView>(store.send, `${vaultPath(id)}/records`);
    if (views.some(({ encrypted_data: data }: { encrypted_data: unknown }) => typeof data !== "string"))
      throw new CofferError("bad_answer", "the service answered with a record that has no ciphertext");
    const request = { send: store.send, self, organization, trusted, listed, context: contexts.vaultKey(id) };
    const { key, version, change, sealed, report } = await nextKey(request);
    const { records, unopened } = await resealAll(store, open, views, key);
    const resealed = await staged(store, id, records);
    return {
      change,
      async send(entry) {
        const users = sealed.map(({ id: userId, encrypted_key }) => ({ user_id: userId, encrypted_key }));
        const body = { key_version: state.ver, encrypted_keys: { users }, entry, ...resealed };
        const answer = await store.send({ method: "POST", path: `${vaultPath(id)}/rotate`, body });
        const view = requireRequested<VaultView>(answer, { id });
        if (view.key_version === version) return { view, report, unopened };
        throw new CofferError("bad_answer", `the service does not say that ${state.name} has a new key`, {
          status: answer.status,
        });
      },
    };
  };
  const { view, report, unopened } = await trust.sign(`vault:${id}`, make, { always: true });
  return { ...(await store.seen(view)).vault, ...report, unopened };
}

interface Done {
  view: VaultView;
  report: RotationReport;
  unopened: string[];
}

async function resealAll(
  store: VaultStore,
  open: OpenVault,
  views: readonly RecordView[],
  key: Uint8Array,
): Promise<{ records: Resealed[]; unopened: string[] }> {
  const records: Resealed[] = [];
  const unopened: string[] = [];
  for (let start = 0; start < views.length; start += atOnce) {
    const some = views.slice(start, start + atOnce).map(async (listed) => {
      const { id } = listed;
      let view = listed;
      let sealed = await reseal(open, view, key);
      if (sealed === undefined) {
        // A false list must not put another record's ciphertext in the place of this one.
        view = await readAgain(store, open, id);
        sealed = await reseal(open, view, key);
      }
      if (sealed === undefined) unopened.push(id);
      return { id, updated_at: view.updated_at, encrypted_data: sealed ?? view.encrypted_data };
    });
    records.push(...(await Promise.all(some)));
  }
  return { records, unopened };
}

/** A record as it is now. Throws CofferError `conflict` when it was deleted meanwhile. */
async function readAgain(store: VaultStore, { vault }: OpenVault, id: string): Promise<RecordView> {
  try {
    return await viewOf(store, vault.id, id);
  } catch (error) {
    if (!(error instanceof CofferError) || error.status !== 404 || error.foreign) throw error;
    throw new CofferError("conflict", `a record of ${vault.name} was deleted at the same time: try again`);
  }
}

/** Undefined for a record that does not open. */
async function reseal(
  open: OpenVault,
  { id, encrypted_data }: RecordView,
  key: Uint8Array,
): Promise<string | undefined> {
  try {
    const fields = await openFields(open, id, encrypted_data);
    return await box(key, encodeRecord(fields), contexts.record(open.vault.id, id));
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "not_decrypted") throw error;
    return undefined;
  }
}

/**
 * The records of the rotation request: all of them, or the id under which they were staged. Throws
 * CofferError `conflict`.
 */
async function staged(
  store: VaultStore,
  id: string,
  records: readonly Resealed[],
): Promise<{ records: readonly Resealed[] } | { rotation_id: string }> {
  const sizeOf = ({ encrypted_data: { length } }: Resealed): number => length;
  const batches = batchesOf(records, { items: mostRecords, size: mostCharacters, sizeOf });
  if (batches.length <= 1) return { records };
  const rotationId = newId();
  const path = `${vaultPath(id)}/rotation/${rotationId}`;
  for (const batch of batches) await store.send({ method: "PUT", path, body: { records: batch } });
  return { rotation_id: rotationId };
}
