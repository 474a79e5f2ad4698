import type { Secret } from "@coffer/sdk";
import { usage } from "../failure.ts";
import { isLoaderVariable } from "./loader-variables.ts";

export interface FolderVariableOptions {
  /** A prefix of every name. */
  prefix?: string | undefined;
  /** Accepted names, prefix included, that change how programs load or connect. */
  allowName?: readonly string[] | undefined;
}

/**
 * Every field of these secrets as a variable: `DATABASE_PASSWORD` for the field `password` of
 * `database`. Throws Failure (usage) when two fields would be one variable, for an invalid prefix,
 * and for a name that changes how programs load or connect, because colleagues choose titles and
 * field names.
 */
export function folderVariables(
  secrets: readonly Secret[],
  { prefix = "", allowName = [] }: FolderVariableOptions = {},
): Map<string, string> {
  if (!/^([A-Za-z_][A-Za-z0-9_]*)?$/.test(prefix))
    throw usage("--prefix takes letters, digits and underscores, and begins with no digit");
  const variables = new Map<string, string>();
  for (const { title, fields } of secrets)
    for (const [field, value] of Object.entries(fields)) {
      const name = variableName(prefix, `${title}_${field}`);
      if (variables.has(name)) throw usage(`two fields would be ${name}: set the variables one by one instead`);
      if (isLoaderVariable(name) && !allowName.includes(name)) throw refused(name);
      variables.set(name, value);
    }
  return new Map([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function refused(name: string): Error {
  return usage(
    `a field of the folder would set ${name}, which changes how programs load or connect; nothing was set. ` +
      `Rename the field, add --prefix, or accept it with --allow-name ${name}`,
  );
}

/** Upper case, with `_` for invalid characters and before a leading digit. */
function variableName(prefix: string, text: string): string {
  const name = text.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return `${prefix}${name}`.replace(/^(?=\d)/, "_");
}
