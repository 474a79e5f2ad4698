import { lstat } from "node:fs/promises";
import { type ExportFormat, writeExport } from "@coffer/import";
import { writePrivateFile } from "@coffer/sdk/node";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { withHeldSignals } from "../../files/held-signals.ts";
import { countOf, printJson, printNotice } from "../../output/output.ts";
import { withVault } from "../../service/pick-vault.ts";
import { printLeftOut } from "../../transfer/left-out.ts";
import { wholeList } from "../../transfer/whole-list.ts";

interface Options extends PersonOptions {
  vault: string;
  format: ExportFormat;
  force?: boolean;
  forSpreadsheets?: boolean;
}

/**
 * `coffer export <file>`: writes a vault's records in the clear, in the format of another program.
 */
export async function exportVault({ args: [path = ""], options, env }: Call<Options>): Promise<void> {
  const toStdout = path === "-";
  if (toStdout && options.json === true) throw usage("stdout is for the export: --json goes with a file");
  if (toStdout && process.stdout.isTTY)
    throw usage("stdout is a terminal, which obeys control characters in a record: name a file, or pipe it on");
  // Before anything is decrypted.
  if (!toStdout && options.force !== true && (await isThere(path)))
    throw usage(`${path} exists already: --force overwrites it`);
  const picked = await withVault(options, env, options.vault);
  const { vault, leftOut: unopened } = picked;
  const { records, came, counted } = await wholeList(picked);
  const unreadable = unopened.size;
  const missing = [
    ...(unreadable > 0 ? [`not in it, since they could not be opened: ${countOf(unreadable, "record")}`] : []),
    ...(came < counted ? [`the service counts ${countOf(counted, "record")}, and gave ${came}`] : []),
  ].join("; ");
  // An existing file may be complete.
  if (!toStdout && missing !== "" && (await isThere(path)))
    throw new Failure(exitCodes.failure, `${missing}. ${path} is unchanged: name another file`);
  const { text, archive, leftOut, notes } = await writeExport(
    options.format,
    records.map(({ id, type, fields }) => ({ id, type, payload: fields })),
    { forSpreadsheets: options.forSpreadsheets },
  );
  printLeftOut(leftOut, options.json === true);
  for (const note of notes) printNotice(`note: ${note}`);
  if (toStdout) process.stdout.write(archive ?? text);
  else
    await withHeldSignals(async () => {
      await writePrivateFile(path, archive ?? text);
      printNotice(`wrote ${path} (mode 0600): it holds secrets of ${vault.name} in the clear`);
    });
  const { format } = options;
  if (options.json === true)
    printJson({
      format,
      vault_id: vault.id,
      file: path,
      records: records.length,
      counted,
      unreadable,
      left_out: leftOut,
      notes,
    });
  if (missing !== "") throw new Failure(exitCodes.failure, missing);
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
