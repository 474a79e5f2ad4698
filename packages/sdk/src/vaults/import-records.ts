import { newId, type RecordPayload } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { retryDelay } from "../http/backoff.ts";
import { type ApiAnswer, wait } from "../http/transport.ts";
import { withNewestKey } from "./change-record.ts";
import type { OpenVault } from "./open-vault.ts";
import { sealRecord } from "./sealed-record.ts";
import { vaultPath } from "./vault-path.ts";
import { allPages, type VaultStore } from "./vault-store.ts";
import type { ImportView, RecordView } from "./views.ts";

export interface NewRecord {
  /** Such as `login`: a lower-case letter, then up to 31 of `a-z0-9_`. */
  type: string;
  fields: RecordPayload;
  /** A UUID, if the caller needs to know it before. */
  id?: string | undefined;
}

export interface ImportOptions {
  /**
   * Called after each chunk with the number of records that are done, and how many of them failed.
   */
  onProgress?: ((progress: { done: number; failed: number; total: number }) => void) | undefined;
}

export interface ImportResult {
  imported: number;
  failed: number;
  /** The created records. `index` is the position in the input. */
  records: { index: number; id: string; type: string }[];
  /** The failed records, with the reason. */
  errors: { index: number; issue: string }[];
}

interface Sealed {
  index: number;
  id: string;
  type: string;
  encrypted_data: string;
  /** Whether this client made the id. */
  own: boolean;
}

type IdentifiedRecord = NewRecord & { id: string; own: boolean };

const mostRecords = 1000;
/**
 * The service accepts 32 MiB per request. The difference is for the JSON around the ciphertexts.
 */
const mostCharacters = 28 * 1024 * 1024;
const longestRecord = 256 * 1024;
const attempts = 4;

/**
 * Creates many records, in chunks of at most 1,000. An invalid or too large record fails alone.
 * When a response is lost, the chunk is sent again, and records of the first attempt are
 * recognized. Throws CofferError when a chunk could not be sent; earlier chunks are stored.
 */
export async function importRecords(
  store: VaultStore,
  vaultId: string,
  records: readonly NewRecord[],
  { onProgress }: ImportOptions = {},
): Promise<ImportResult> {
  const result: ImportResult = { imported: 0, failed: 0, records: [], errors: [] };
  // A chunk that is sealed again after a rotation must keep its ids.
  const identified = records.map((record) => ({ ...record, id: record.id ?? newId(), own: record.id === undefined }));
  for (let from = 0; from < records.length;) {
    const { next, ...done } = await withNewestKey(store, vaultId, async (vault, again) => {
      const piece = await nextPiece(vault, identified, from);
      const outcome: Pick<ImportResult, "records" | "errors"> = { records: [], errors: [...piece.errors] };
      if (piece.sealed.length > 0) await sendPiece(store, vault, piece.sealed, outcome, again);
      return { ...outcome, next: piece.next };
    });
    from = next;
    result.records.push(...done.records);
    result.errors.push(...done.errors);
    result.imported = result.records.length;
    result.failed = result.errors.length;
    onProgress?.({ done: from, failed: result.failed, total: records.length });
  }
  result.errors.sort((a, b) => a.index - b.index);
  return result;
}

/**
 * Seals as many records as one request accepts. A record that cannot be sealed, or is too large, is
 * a separate error.
 */
async function nextPiece(
  vault: OpenVault,
  records: readonly IdentifiedRecord[],
  from: number,
): Promise<{ sealed: Sealed[]; errors: ImportResult["errors"]; next: number }> {
  const sealed: Sealed[] = [];
  const errors: ImportResult["errors"] = [];
  let characters = 0;
  let index = from;
  for (; index < records.length && sealed.length < mostRecords; index += 1) {
    const { type, fields, id, own } = records[index] as IdentifiedRecord; // the index is inside
    const encryptedData = await sealRecord(vault, id, fields).catch((error: unknown) => {
      if (!(error instanceof CofferError) || error.code !== "invalid_request") throw error;
      errors.push({ index, issue: error.message });
      return undefined;
    });
    if (encryptedData === undefined) continue;
    if (encryptedData.length > longestRecord) {
      errors.push({ index, issue: "larger than 256 KiB when it is sealed" });
      continue;
    }
    if (characters + encryptedData.length > mostCharacters) break;
    characters += encryptedData.length;
    sealed.push({ index, id, type, encrypted_data: encryptedData, own });
  }
  return { sealed, errors, next: index };
}

async function sendPiece(
  store: VaultStore,
  { vault: { id: vaultId, key_version } }: OpenVault,
  sealed: readonly Sealed[],
  result: Pick<ImportResult, "records" | "errors">,
  again: boolean,
): Promise<void> {
  const body = { records: sealed.map(({ id, type, encrypted_data }) => ({ id, type, encrypted_data })), key_version };
  const path = `${vaultPath(vaultId)}/import`;
  for (let attempt = 1; ; attempt += 1) {
    let refused: Map<number, string>;
    try {
      refused = refusedOf(await store.send({ method: "POST", path, body }), sealed.length);
    } catch (error) {
      const lost = error instanceof CofferError && (error.code === "network" || error.code === "unavailable");
      const delay = lost ? retryDelay(error, attempt, true) : undefined;
      if (delay === undefined || attempt >= attempts || delay > store.maxWaitSeconds * 1000) throw error;
      await wait(delay, store.signal);
      continue;
    }
    const checks = (attempt > 1 || again) && refused.size > 0;
    const made = checks ? await presentIn(store, vaultId) : new Map<string, string>();
    sealed.forEach(({ index, id, type, encrypted_data, own }, place) => {
      const issue = refused.get(place);
      // A rotation seals the records of the first request again, so the client-made id identifies
      // them.
      if (issue === undefined || made.get(id) === encrypted_data || (own && made.has(id)))
        result.records.push({ index, id, type });
      else result.errors.push({ index, issue });
    });
    return;
  }
}

/**
 * The refused records of a chunk, with the reason. Throws CofferError `bad_answer` for an
 * incomplete response, such as a gateway's page, or a count of unnamed failures: those would pass
 * for successes.
 */
function refusedOf({ status, body }: ApiAnswer, count: number): Map<number, string> {
  const { imported, failed, errors } = (body ?? {}) as Partial<ImportView>; // what is used of it is looked at
  const refused = new Map(Array.isArray(errors) ? errors.map(({ index, issue }) => [index, issue]) : []);
  const named = [...Array(count).keys()].filter((index) => refused.has(index)).length;
  if (failed === named && imported === count - named) return refused;
  throw new CofferError("bad_answer", "the service does not say what became of each record of the import", { status });
}

/** The ciphertexts of the vault, by id. */
async function presentIn(store: VaultStore, vaultId: string): Promise<Map<string, string>> {
  const views = await allPages<RecordView>(store.send, `${vaultPath(vaultId)}/records`);
  return new Map(views.map(({ id, encrypted_data }) => [id, encrypted_data]));
}
