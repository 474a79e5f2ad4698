import { parseEnv } from "node:util";
import { usage } from "../failure.ts";
import { readNamedFile } from "../input/inputs.ts";
import { visible } from "../output/output.ts";

/**
 * The variables of dotenv files; a later file takes precedence. Throws Failure (usage) for a file
 * that cannot be read, and for a line without an assignment, which `parseEnv` would ignore.
 */
export async function readEnvFiles(paths: readonly string[]): Promise<NodeJS.Dict<string>> {
  const files = await Promise.all(paths.map(readVariables));
  return Object.assign({}, ...files) as NodeJS.Dict<string>;
}

async function readVariables(path: string): Promise<NodeJS.Dict<string>> {
  const text = (await readNamedFile(path)).replace(/^\uFEFF/, "");
  const wrong = lineThatSetsNothing(text);
  if (wrong !== undefined) throw usage(`line ${wrong} of ${visible(path)} is not NAME=value, a comment or empty`);
  return parseEnv(text);
}

const comment = /^\s*(?:#.*)?$/;
const assignment = /^\s*(?:export\s+)?[^\s=#'"][^=]*=\s*(?:(["'`])(?<quoted>.*))?/s;

/**
 * The number of the first line that is no assignment, from 1. A quoted value may span several
 * lines.
 */
function lineThatSetsNothing(text: string): number | undefined {
  const lines = text.split(/\r?\n/);
  let quote: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (quote !== undefined) {
      if (line.includes(quote)) quote = undefined;
      continue;
    }
    if (comment.test(line)) continue;
    const found = assignment.exec(line);
    if (found === null) return index + 1;
    const [, opened] = found;
    const closes = opened !== undefined && found.groups?.["quoted"]?.includes(opened) === true;
    // A quote that no later line closes is part of the value.
    if (opened !== undefined && !closes && lines.slice(index + 1).some((later) => later.includes(opened)))
      quote = opened;
  }
  return undefined;
}
