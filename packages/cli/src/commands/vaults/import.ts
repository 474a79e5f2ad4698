import { importContents, type ImportedFile, type ImportFormat } from "@coffer/import";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { countOf, print, printJson, printNotice } from "../../output/output.ts";
import { type PickedVault, withVault } from "../../service/pick-vault.ts";
import { countByType, printLeftOut, printNames } from "../../transfer/left-out.ts";
import { type ImportPlan, planImport } from "../../transfer/plan-import.ts";
import { readImportFile } from "../../transfer/read-import-file.ts";
import { sendImport } from "../../transfer/send-import.ts";

interface Options extends PersonOptions {
  vault?: string;
  format?: ImportFormat;
  map?: string[];
  dryRun?: boolean;
  includeArchived?: boolean;
  includeDeleted?: boolean;
  asNew?: boolean;
  skip?: boolean;
}

/** `coffer import <file>`: every item becomes a record of a vault, encrypted here. */
export async function importFile({ args: [path = ""], options, env }: Call<Options>): Promise<void> {
  const { vault } = options;
  if (vault === undefined && options.dryRun !== true)
    throw usage("name the vault with --vault, or look at the file alone with --dry-run");
  const file = await readImportFile(path, options);
  const json = options.json === true;
  printLeftOut(file.leftOut, json);
  for (const note of file.notes) printNotice(`note: ${note}`);
  if (file.records.length + file.leftOut.length === 0) printNotice("note: the file holds no item");
  if (vault === undefined) {
    say(file, json, { dry_run: true }, `${file.format}: would import ${countByType(file.records)}`);
    printNotice("note: without --vault it is unknown which of them an earlier import created");
    endWith(options, file.leftOut.length);
    return;
  }
  const picked = await withVault(options, env, vault);
  const { person } = picked;
  const contents = importContents(file.records);
  const ids = options.asNew === true ? undefined : await person.records.stableIds(picked.vault.id, contents);
  const plan = await planImport(picked, file.records, ids);
  if (options.dryRun === true) sayPlan(file, options, picked, plan);
  else await carryOut(file, options, picked, plan, path);
}

/** Prints what an import would do, without doing it. */
function sayPlan(file: ImportedFile, options: Options, { vault }: PickedVault, plan: ImportPlan): void {
  const { present, unopened } = plan;
  printPlan(plan, options);
  const outcome = {
    dry_run: true,
    vault_id: vault.id,
    would_import: plan.sent.length,
    already_there: present.length,
    already_there_items: present,
    failed: unopened,
  };
  const sentence = `${file.format}: would import ${countByType(plan.sent)} into ${vault.name}`;
  say(file, options.json === true, outcome, sentence);
  if (options.asNew !== true && plan.sent.length > 0)
    printNotice("note: an import also passes over records that were deleted in Coffer in the last 90 days");
  endWith(options, file.leftOut.length + unopened.length);
}

async function carryOut(
  file: ImportedFile,
  options: Options,
  picked: PickedVault,
  plan: ImportPlan,
  path: string,
): Promise<void> {
  const { imported, deleted, failed } = await sendImport(picked, plan);
  printPlan(plan, options);
  printNames(
    "deleted here since an earlier import (--as-new makes them again)",
    "record",
    deleted,
    options.json === true,
  );
  const failures = [...plan.unopened, ...failed];
  for (const { item, reason } of failed) printNotice(`coffer: not imported: ${item}: ${reason}`);
  const outcome = {
    vault_id: picked.vault.id,
    imported,
    already_there: plan.present.length,
    already_there_items: plan.present,
    deleted_here: deleted,
    failed: failures,
  };
  say(file, options.json === true, outcome, `imported ${countOf(imported, "record")} into ${picked.vault.name}`);
  if (failures.length > 0)
    throw new Failure(exitCodes.failure, `${countOf(failures.length, "record")} could not be imported`);
  if (path !== "-") printNotice(`${path} still holds all of it in the clear: remove it when you have looked`);
  endWith(options, file.leftOut.length + deleted.length);
}

function printPlan({ present, unopened }: ImportPlan, { json = false }: Options): void {
  printNames("from an earlier import", "record", present, json);
  for (const { item, reason } of unopened) printNotice(`coffer: not imported: ${item}: ${reason}`);
}

/** Throws an error when items are missing in the vault, unless `--skip` accepts that. */
function endWith({ skip = false }: Options, leftOut: number): void {
  if (leftOut === 0 || skip) return;
  const parts = leftOut === 1 ? "a part of the file is" : `${leftOut} parts of the file are`;
  throw new Failure(exitCodes.failure, `${parts} left out, as named above; --skip accepts that`);
}

function say(file: ImportedFile, json: boolean, outcome: object, sentence: string): void {
  const { format, leftOut, notes, records } = file;
  if (json) printJson({ format, items: records.length, ...outcome, left_out: leftOut, notes });
  else print(sentence);
}
