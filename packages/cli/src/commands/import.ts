import { importContents } from "@coffer/import";
import type { ImportedFile, ImportFormat } from "@coffer/import";
import type { Call, PersonOptions } from "../command-row.ts";
import { exitCodes, Failure, usage } from "../failure.ts";
import { countOf, print, printJson, tell, visible } from "../output.ts";
import { withVault } from "../pick-vault.ts";
import { countByType, tellLeftOut } from "../transfer/left-out.ts";
import { readImportFile } from "../transfer/read-import-file.ts";
import { sendImport } from "../transfer/send-import.ts";

interface Options extends PersonOptions {
  vault?: string;
  format?: ImportFormat;
  dryRun?: boolean;
  includeArchived?: boolean;
  includeDeleted?: boolean;
  asNew?: boolean;
}

/** `coffer import <file>`: every item becomes a record of a vault, encrypted here. */
export async function importFile({ args: [path = ""], options, env }: Call<Options>): Promise<void> {
  if (options.vault === undefined && options.dryRun !== true)
    throw usage("name the vault with --vault, or look at the file alone with --dry-run");
  const file = await readImportFile(path, options);
  tellLeftOut(file.leftOut, options.json === true);
  for (const note of file.notes) tell(`note: ${note}`);
  if (options.dryRun === true) {
    say(file, options, { dry_run: true }, `${file.format}: would import ${countByType(file.records)}`);
    return;
  }
  const { person, vault, leftOut } = await withVault(options, env, options.vault ?? "");
  const contents = importContents(file.records);
  const ids = options.asNew === true ? undefined : await person.records.stableIds(vault.id, contents);
  const { imported, present, deleted, failed } = await sendImport({ person, vault, leftOut }, file.records, ids);
  if (present > 0) tell(`already there, from an earlier import: ${countOf(present, "record")}`);
  if (deleted.length > 0)
    tell(`deleted here since an earlier import: ${countOf(deleted.length, "record")}; --as-new makes them again`);
  for (const { item, reason } of failed) tell(`coffer: not imported: ${item}: ${reason}`);
  const outcome = { vault_id: vault.id, imported, already_there: present, deleted_here: deleted, failed };
  say(file, options, outcome, `imported ${countOf(imported, "record")} into ${vault.name}`);
  if (failed.length > 0)
    throw new Failure(exitCodes.failure, `${countOf(failed.length, "record")} could not be imported`);
  if (path !== "-") tell(`${path} still holds all of it in the clear: remove it when you have looked`);
}

function say(file: ImportedFile, options: Options, outcome: object, sentence: string): void {
  const { format, leftOut, notes, records } = file;
  if (options.json === true) printJson({ format, items: records.length, ...outcome, left_out: leftOut, notes });
  else print(visible(sentence));
}
