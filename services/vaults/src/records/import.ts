import { ServiceError } from "@coffer/errors";
import { recordsChanged } from "@coffer/events";
import type { Call } from "@coffer/http";
import { enqueue, enqueueAudit } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { auditOf } from "@coffer/service";
import { requireHeldVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { insertRecords } from "../store/records.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { ImportBody } from "./bodies.ts";
import type { ImportIssue } from "./import-items.ts";
import { readItems } from "./import-items.ts";

/** What became of an import (specification 4.2), with what was wrong with the items that failed. */
export interface ImportView {
  imported: number;
  failed: number;
  records: { id: string; type: string }[];
  errors: ImportIssue[];
}

const mostItems = 1_000;

/** POST /api/vaults/{id}/import: those items that are valid are created together. */
export function importRecords(
  deps: Deps,
  { caller, params, body, request }: Call<User, VaultPath, ImportBody>,
): Promise<ImportView> {
  return deps.database.transaction(async (tx) => {
    const { id: vaultId, orgId, actor } = await requireHeldVault(tx, caller, params.id, "write");
    const sent = body.records;
    if (sent.length > mostItems) {
      throw new ServiceError("payload_too_large", `${sent.length} records, but an import takes ${mostItems} at most`);
    }
    const { items, errors } = readItems(sent, () => deps.newId());
    const at = `${deps.now().toISOString().slice(0, -1)}000Z`;
    const inserted = new Set(await insertRecords(tx, vaultId, items, at));
    const made = items.filter(({ id }) => inserted.has(id));
    for (const { id, index } of items) if (!inserted.has(id)) errors.push({ index, issue: "id: taken" });
    if (made.length > 0) {
      const changes = made.map(({ id }) => ({ action: "record_created" as const, record_id: id, updated_at: at }));
      await enqueue(tx, recordsChanged, { vault_id: vaultId, changes }, { id: deps.newId() });
    }
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: orgId,
        action: "record.imported",
        actor,
        target: { type: "vault", id: vaultId },
        status: 201,
        count: made.length,
        ...(errors.length === 0 ? {} : { changes: { failed: errors.length } }),
      }),
    );
    return {
      imported: made.length,
      failed: errors.length,
      records: made.map(({ id, type }) => ({ id, type })),
      errors: errors.sort((a, b) => a.index - b.index),
    };
  });
}
