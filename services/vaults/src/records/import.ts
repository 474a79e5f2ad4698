import { ServiceError } from "@coffer/errors";
import { recordsChanged } from "@coffer/events";
import type { AuditedCall } from "@coffer/http";
import { enqueue, enqueueAudit } from "@coffer/outbox";
import { isUniqueViolation } from "@coffer/postgres";
import { retryOnConflict, type User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireKeyVersion } from "../vaults/key-version.ts";
import { requireHeldVault, requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";
import { idOfDeleted, insertRecords } from "../store/records/records.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { ImportBody } from "./bodies.ts";
import { busy } from "../errors.ts";
import { type ImportIssue, readItems } from "./import-items.ts";

/** The result of an import (specification 4.2), with the problems of the items that failed. */
export interface ImportView {
  imported: number;
  failed: number;
  records: { id: string; type: string }[];
  errors: ImportIssue[];
}

const mostItems = 1_000;
const itemTaken = "id: taken: if an earlier request of yours created the record, it exists; otherwise use another id";

/** POST /api/vaults/{id}/import: creates the valid items in one transaction. */
export async function importRecords(deps: Deps, call: AuditedCall<User, VaultPath, ImportBody>): Promise<ImportView> {
  const { caller, params, body } = call;
  const { id: vaultId } = await requireVault(deps.database.pool, caller, params.id, "write");
  const sent = body.records;
  if (sent.length > mostItems) {
    throw new ServiceError("payload_too_large", `${sent.length} records, but an import takes at most ${mostItems}`);
  }
  // Before the lock: parsing 32 MiB takes a while.
  const read = readItems(sent, () => deps.newId());
  return retryOnConflict(() => store(deps, call, vaultId, read), busy);
}

/**
 * Creates the items; null, and creates none, if a record with one of the ids was deleted meanwhile.
 */
async function store(
  deps: Deps,
  { caller, body, audit }: AuditedCall<User, VaultPath, ImportBody>,
  id: string,
  read: ReturnType<typeof readItems>,
): Promise<ImportView | null> {
  const { items } = read;
  try {
    return await transactionInSession(deps, caller, async (tx) => {
      const { id: vaultId, orgId, actor, keyVersion } = await requireHeldVault(tx, caller, id, "write");
      requireKeyVersion(body.key_version, keyVersion);
      const at = momentOf(deps.now());
      const inserted = new Set(await insertRecords(tx, vaultId, items, at));
      const made = items.filter(({ id }) => inserted.has(id));
      const taken = items.filter(({ id }) => !inserted.has(id)).map(({ index }) => ({ index, issue: itemTaken }));
      const errors = [...read.errors, ...taken].sort((a, b) => a.index - b.index);
      if (made.length > 0) {
        const changes = made.map(({ id }) => ({ action: "record_created" as const, record_id: id, updated_at: at }));
        await enqueue(tx, recordsChanged, { vault_id: vaultId, changes }, { id: deps.newId() });
      }
      await enqueueAudit(
        tx,
        audit({
          orgId,
          actor,
          count: made.length,
          ...(errors.length === 0 ? {} : { changes: { failed: errors.length } }),
        }),
      );
      const records = made.map(({ id, type }) => ({ id, type }));
      return { imported: made.length, failed: errors.length, records, errors };
    });
  } catch (error) {
    if (isUniqueViolation(error, idOfDeleted)) return null;
    throw error;
  }
}
