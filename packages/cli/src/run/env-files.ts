import { readEnvFile } from "@coffer/import/env-file";
import { usage } from "../failure.ts";
import { readNamedFile } from "../input/inputs.ts";
import { visible } from "../output/output.ts";

/**
 * The variables of dotenv files; a later file takes precedence. Throws Failure (usage) for a file
 * that cannot be read, and for a line without an assignment.
 */
export async function readEnvFiles(paths: readonly string[]): Promise<NodeJS.Dict<string>> {
  const files = await Promise.all(paths.map(readVariables));
  return Object.fromEntries(files.flatMap((variables) => [...variables]));
}

async function readVariables(path: string): Promise<Map<string, string>> {
  const file = readEnvFile(await readNamedFile(path));
  if ("variables" in file) return file.variables;
  throw usage(`line ${file.wrongLine} of ${visible(path)} is not NAME=value, a comment or empty`);
}
