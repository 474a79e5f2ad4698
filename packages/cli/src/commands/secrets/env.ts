import type { Secret } from "@coffer/sdk";
import type { CachedOptions, Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { countOf, printExact, printJson, printNotice } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { childEnvironment } from "../../run/child-environment.ts";
import { type FolderVariableOptions, folderVariables } from "../../run/folder-variables.ts";
import { foldersOf, referencesIn, resolveReferences } from "../../run/references.ts";
import { checkCache, secretsOf } from "../../service/access.ts";
import { unlessVault } from "../../service/vault-for-folder.ts";

interface Options extends CachedOptions, FolderVariableOptions {
  folder?: string;
}

/** `coffer env`: prints the variables that refer to secrets, or all fields of a folder, with their values. */
export async function env({ options, env: environment }: Call<Options>): Promise<void> {
  checkCache(options, environment);
  if (options.folder === undefined && (options.prefix ?? options.allowName) !== undefined)
    throw usage("--prefix and --allow-name are about the names of --folder");
  const values =
    options.folder === undefined
      ? await environmentValues(options, environment)
      : folderVariables(await secretsIn(options.folder, options, environment), options);
  if (options.json === true) printJson(Object.fromEntries(values));
  else for (const [name, value] of values) printExact(`${name}=${quoteValue(value)}`);
}

/** Without expired secrets, as a machine gets them: a person's list has them too. */
async function secretsIn(folder: string, options: CachedOptions, environment: NodeJS.ProcessEnv): Promise<Secret[]> {
  const secrets = await unlessVault([folder], options, environment, async () =>
    (await secretsOf(options, environment)).list(folder),
  );
  const present = secrets.filter(({ expired }) => !expired);
  const expired = secrets.length - present.length;
  if (expired > 0) printNotice(`note: left out, since expired: ${countOf(expired, "secret")}`);
  return present;
}

function environmentValues(options: CachedOptions, environment: NodeJS.ProcessEnv): Promise<Map<string, string>> {
  const references = referencesIn(childEnvironment(environment));
  if (references.size === 0)
    throw usage("no variable refers to a secret: set NAME=coffer://… or name a folder with --folder");
  return unlessVault(foldersOf(references.values()), options, environment, () =>
    resolveReferences(references, () => secretsOf(options, environment)),
  );
}
