import type { SyncedRecord } from "@coffer/sdk";
import type { Calls } from "../../protocol/calls.ts";
import type { Changes, Conflict } from "../../protocol/records.ts";
import { codeOf } from "@coffer/sdk/code-of";
import type { Workspace } from "../workspace.ts";

/** Changes fields of a record, unless it was changed since the person began. */
export async function saveRecord(
  { client, record, written }: Workspace,
  { id, changes, updatedAt }: Parameters<Calls["saveRecord"]>[0],
): Promise<{ conflict: Conflict | null }> {
  const held = await record(id);
  const fields = withChanges(held.fields, changes);
  try {
    written(await client.records.update(held.vault_id, id, { fields }, { unchangedSince: updatedAt }));
    return { conflict: null };
  } catch (error) {
    if (codeOf(error) !== "precondition_failed") throw error;
    const theirs = await client.records.get(held.vault_id, id);
    written(theirs);
    return { conflict: conflictOf(theirs, changes) };
  }
}

function withChanges(fields: Readonly<Record<string, string>>, changes: Changes): Record<string, string> {
  const all = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

function conflictOf(record: Pick<SyncedRecord, "fields" | "updated_at">, changes: Changes): Conflict {
  const theirs = Object.entries(record.fields).filter(([key]) => Object.hasOwn(changes, key));
  return { updatedAt: record.updated_at, theirs: Object.fromEntries(theirs) };
}
