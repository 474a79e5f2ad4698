import { newId } from "@coffer/crypto";
import type { RecordPayload } from "@coffer/crypto";
import { askedFor } from "../asked-for.ts";
import { CofferError } from "../errors.ts";
import type { NewRecord } from "./import-records.ts";
import type { ApiAnswer } from "../transport.ts";
import { openRecord, sealRecord } from "./sealed-record.ts";
import type { VaultRecord } from "./sealed-record.ts";
import { recordPath, vaultPath } from "./vault-store.ts";
import type { VaultStore } from "./vault-store.ts";
import type { RecordView } from "./views.ts";

/** What a record is to be. All of its fields are replaced. */
export interface RecordChange {
  /** Without it the type stays. */
  type?: string | undefined;
  fields: RecordPayload;
}

/** How often a change starts over because somebody else changed the same record in between. */
const rounds = 10;

/** A record as the service holds it. Throws CofferError, `bad_answer` for another record than this one. */
export async function viewOf(store: VaultStore, vaultId: string, id: string): Promise<RecordView> {
  return thisRecord(await store.send({ method: "GET", path: recordPath(vaultId, id) }), vaultId, id);
}

function thisRecord(answer: ApiAnswer, vaultId: string, id: string): RecordView {
  return askedFor<RecordView>(answer, { id, vault_id: vaultId });
}

/** Makes a record under an id made here, to which its ciphertext is bound. Throws CofferError. */
export async function createRecord(store: VaultStore, vaultId: string, record: NewRecord): Promise<VaultRecord> {
  const vault = await store.one(vaultId);
  const { type, fields, id = newId() } = record;
  const encryptedData = await sealRecord(vault, id, fields);
  const body = { id, type, encrypted_data: encryptedData };
  const path = `${vaultPath(vaultId)}/records`;
  const view = await store
    .send({ method: "POST", path, body, repeatable: true })
    .then((made) => thisRecord(made, vaultId, id))
    .catch((error: unknown) => alreadyOurs(error, "conflict", store, vaultId, id, encryptedData));
  return openRecord(vault, view);
}

/**
 * Replaces a record. With `unchangedSince`, its `updated_at` as the caller knows it, only when nobody has written in
 * between; else the last one wins. Throws CofferError, `precondition_failed` when somebody has.
 */
export async function updateRecord(
  store: VaultStore,
  vaultId: string,
  id: string,
  { type, fields }: RecordChange,
  unchangedSince: string | undefined,
): Promise<VaultRecord> {
  const vault = await store.one(vaultId);
  const encryptedData = await sealRecord(vault, id, fields);
  const body = { type: type ?? (await viewOf(store, vaultId, id)).type, encrypted_data: encryptedData };
  const headers = unchangedSince === undefined ? undefined : { "if-match": `"${unchangedSince}"` };
  const view = await store
    .send({ method: "PUT", path: recordPath(vaultId, id), headers, body })
    .then((changed) => thisRecord(changed, vaultId, id))
    .catch((error: unknown) => alreadyOurs(error, "precondition_failed", store, vaultId, id, encryptedData));
  return openRecord(vault, view);
}

/** Reads, changes and writes a record, and starts over when somebody else wrote in between. Throws CofferError. */
export async function changeRecord(
  store: VaultStore,
  vaultId: string,
  id: string,
  change: (record: VaultRecord) => RecordChange,
): Promise<VaultRecord> {
  for (let round = 1; ; round += 1) {
    const record = await openRecord(await store.one(vaultId), await viewOf(store, vaultId, id));
    try {
      return await updateRecord(store, vaultId, id, { type: record.type, ...change(record) }, record.updated_at);
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "precondition_failed" || round === rounds) throw error;
    }
  }
}

/**
 * What a write made whose answer was lost, when the same write, sent again, is refused because of it: no two ciphertexts
 * are ever the same. Throws the error for what is somebody else's.
 */
async function alreadyOurs(
  error: unknown,
  code: "conflict" | "precondition_failed",
  store: VaultStore,
  vaultId: string,
  id: string,
  encryptedData: string,
): Promise<RecordView> {
  if (!(error instanceof CofferError) || error.code !== code) throw error;
  const view = await viewOf(store, vaultId, id).catch(() => undefined);
  if (view?.encrypted_data !== encryptedData) throw error;
  return view;
}
