import type { PlainRecord } from "@coffer/import";
import type { Calls } from "../../protocol/calls.ts";
import type { ExportedVault, ImportView, Imported } from "../../protocol/transfer.ts";
import type * as formats from "./import-formats.ts";
import type { Workspace } from "../workspace.ts";

/** The readers and writers of other programs' files, which the build makes a file of their own. */
declare const __IMPORT_PATH__: string;

const loadFormats = async (): Promise<typeof formats> => (await import(__IMPORT_PATH__)) as typeof formats; // the build's address of it

/** So many names are shown before the import. */
const mostNames = 50;
/** So many records are imported at a time. The page says how far the import is after each time. */
const atATime = 500;

interface Plan {
  id: string;
  vaultId: string;
  /** Those that are still to import. */
  records: (PlainRecord & { id: string })[];
}

/** The file that was read last. It ends with the unlocked session. */
const plans = new WeakMap<Workspace, Plan>();

/**
 * Reads a file of another password manager. Its records stay here until `importFile`; the page gets names and counts.
 * Throws what `refuse` makes of an ImportError's code.
 */
export async function readFile(
  workspace: Workspace,
  { file, vaultId }: Parameters<Calls["readFile"]>[0],
  refuse: (code: string) => Error,
): Promise<ImportView> {
  plans.delete(workspace);
  const { ImportError, importContents, readImport } = await loadFormats();
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { records, leftOut, notes, format } = await readImport(bytes).catch((error: unknown) => {
    throw error instanceof ImportError ? refuse(`import_${error.code}`) : error;
  });
  const { client } = workspace;
  const ids = await client.records.stableIds(vaultId, importContents(records));
  const present = new Set((await client.records.list(vaultId)).map(({ id }) => id));
  const planned = records.map((record, index) => ({ ...record, id: ids[index] ?? "" }));
  const sent = planned.filter(({ id }) => !present.has(id));
  const plan = crypto.randomUUID();
  plans.set(workspace, { id: plan, vaultId, records: sent });
  return {
    plan,
    format,
    count: sent.length,
    present: records.length - sent.length,
    names: sent.slice(0, mostNames).map(({ type, payload }) => ({ type, name: payload["name"] ?? "" })),
    leftOut: leftOut.map(({ item, reason }) => ({ item, reason })),
    notes: [...notes],
  };
}

/**
 * Imports the next records of the file that `readFile` has read. A record that failed can be imported again.
 * @throws the error of `refuse` for `import_replaced`, if the file is imported already or a page has read
 * another one since
 */
export async function importFile(workspace: Workspace, id: string, refuse: (code: string) => Error): Promise<Imported> {
  const plan = plans.get(workspace);
  if (plan?.id !== id) throw refuse("import_replaced");
  const next = plan.records.slice(0, atATime);
  const records = next.map(({ id, type, payload }) => ({ id, type, fields: payload }));
  const { imported, errors } = await workspace.client.records.import(plan.vaultId, records);
  plan.records.splice(0, next.length);
  if (plan.records.length === 0) plans.delete(workspace);
  return {
    imported,
    failed: errors.map(({ index, issue }) => ({ item: next[index]?.payload["name"] ?? null, reason: issue })),
    left: plan.records.length,
  };
}

/** How often a vault is read while the service counts more records than were read. */
const mostReads = 3;

/** Writes all records of a vault in the clear, in the format of another program. */
export async function exportVault(
  { client }: Workspace,
  { vaultId, format }: Pick<Parameters<Calls["exportVault"]>[0], "vaultId" | "format">,
): Promise<ExportedVault> {
  const { writeExport } = await loadFormats();
  for (let reads = 1; ; reads += 1) {
    const records = await client.records.list(vaultId);
    const { record_count: counted } = await client.vaults.get(vaultId);
    if (records.length < counted && reads < mostReads) continue;
    const written = records.map(({ id, type, fields }) => ({ id, type, payload: fields }));
    const { text, archive, leftOut, notes } = await writeExport(format, written);
    return {
      file: new Blob([archive === undefined ? text : Uint8Array.from(archive)]),
      count: records.length,
      missing: Math.max(0, counted - records.length),
      leftOut: leftOut.map(({ item, reason }) => ({ item, reason })),
      notes,
    };
  }
}
