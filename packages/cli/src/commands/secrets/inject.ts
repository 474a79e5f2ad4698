import { writePrivateFile } from "@coffer/sdk/node";
import type { CachedOptions, Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { withHeldSignals } from "../../files/held-signals.ts";
import { readNamedFile, readStdin } from "../../input/inputs.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { countOf, printJson, printNotice } from "../../output/output.ts";
import { foldersOf } from "../../run/references.ts";
import { fillTemplate, notationsIn } from "../../run/template.ts";
import { checkCache, secretsOf } from "../../service/access.ts";
import { unlessVault } from "../../service/vault-for-folder.ts";

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
