import { box, contexts, CryptoError, decodeRecord, encodeRecord, type RecordPayload, unbox } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { type OpenVault, usableVaultKeyOf } from "./open-vault.ts";
import type { RecordView } from "./views.ts";

/** A record, decrypted. */
export interface VaultRecord {
  id: string;
  vault_id: string;
  type: string;
  /** The plaintext: flat, such as `name`, `username`, `password`. */
  fields: RecordPayload;
  created_at: string;
  updated_at: string;
}

/**
 * Seals a record's fields under the vault's key, bound to the vault and the record. Throws
 * CofferError `invalid_request` for fields that are not all text, or an id that is no UUID.
 */
export async function sealRecord(vault: OpenVault, id: string, fields: RecordPayload): Promise<string> {
  const key = await usableVaultKeyOf(vault);
  try {
    return await box(key, encodeRecord(fields), contexts.record(vault.vault.id, id));
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    throw new CofferError("invalid_request", cause.message, { cause });
  }
}

/**
 * The fields of a record. A value without a bound context, from a client that knows only the
 * interface, opens too. Throws CofferError `not_decrypted` for a wrong key, or altered or moved
 * ciphertext.
 */
export async function openFields(vault: OpenVault, id: string, encryptedData: string): Promise<RecordPayload> {
  const key = await usableVaultKeyOf(vault);
  try {
    return decodeRecord(await unbox(key, encryptedData, contexts.record(vault.vault.id, id)));
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    const what = `the record ${id} cannot be decrypted: another key, or altered on its way`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}

export async function openRecord(vault: OpenVault, view: RecordView): Promise<VaultRecord> {
  const { id, vault_id, type, created_at, updated_at } = view;
  return { id, vault_id, type, fields: await openFields(vault, id, view.encrypted_data), created_at, updated_at };
}
