import { parseEnv } from "node:util";
import { readNamedFile } from "./inputs.ts";

/**
 * The variables of dotenv files; of two files that set a name the later one counts. Throws Failure (usage) for a file that
 * cannot be read.
 */
export async function readEnvFiles(paths: readonly string[]): Promise<NodeJS.Dict<string>> {
  const files = await Promise.all(paths.map(readNamedFile));
  return Object.assign({}, ...files.map((text) => parseEnv(text.replace(/^\uFEFF/, "")))) as NodeJS.Dict<string>;
}
