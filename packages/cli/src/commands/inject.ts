import { writePrivateFile } from "@coffer/sdk/node";
import { checkCache, secretsOf } from "../access.ts";
import type { CachedOptions, Call } from "../command-row.ts";
import { usage } from "../failure.ts";
import { withHeldSignals } from "../held-signals.ts";
import { readNamedFile, readStdin } from "../inputs.ts";
import { countOf, printJson, printNotice } from "../output.ts";
import { foldersOf } from "../references.ts";
import { fillTemplate, notationsIn } from "../template.ts";
import { unlessVault } from "../vault-for-folder.ts";
import { stdinIsTerminal } from "../stdin-is-terminal.ts";

interface Options extends CachedOptions {
  in?: string;
  out?: string;
}

/** `coffer inject`: fills the `{{ coffer://… }}` of a template. */
export async function inject({ options, env }: Call<Options>): Promise<void> {
  checkCache(options, env);
  const template = await readTemplate(options.in);
  const notations = notationsIn(template);
  const values =
    notations.size === 0
      ? new Map<string, string>()
      : await unlessVault(foldersOf(notations), options, env, async () =>
          (await secretsOf(options, env)).readAll(notations),
        );
  const filled = fillTemplate(template, values);
  if (options.out === undefined) {
    if (options.json === true) printJson({ filled, references: notations.size });
    else process.stdout.write(filled);
    return;
  }
  const { out } = options;
  await withHeldSignals(async () => {
    await writePrivateFile(out, filled);
    printNotice(`wrote ${out} (${countOf(notations.size, "secret")}, mode 0600)`);
  });
  if (options.json === true) printJson({ out, references: notations.size });
}

async function readTemplate(path: string | undefined): Promise<string> {
  if (path !== undefined && path !== "-") return readNamedFile(path);
  if (stdinIsTerminal()) throw usage("name a template with -i, or give it on stdin");
  return readStdin();
}
