import type { RecordType } from "@coffer/sdk";
import { secretsOf } from "../access.ts";
import type { Call, DataOptions } from "../command-row.ts";
import { usage } from "../failure.ts";
import { readNamedFile, readStdin, stdinIsTerminal, withoutLastBreak } from "../inputs.ts";
import { notationArgument } from "../notation-argument.ts";
import { printJson, tell } from "../output.ts";
import { askHidden } from "../terminal.ts";

interface Options extends DataOptions {
  type?: RecordType;
  file?: string;
  allowEmpty?: boolean;
}

/** `coffer set <uri>`: writes one field, and makes the secret when there is none. */
export async function set({ args: [uri = ""], options, env }: Call<Options>): Promise<void> {
  const { folder, title, field } = notationArgument(uri);
  const secrets = await secretsOf(options, env);
  const value = await readValue(options.file);
  // What produced it may have failed, and what was there before would be gone.
  if (value === "" && options.allowEmpty !== true)
    throw usage("the value is empty, nothing was written: if that is what you mean, add --allow-empty");
  const result = await secrets.set(uri, value, { type: options.type });
  tell(`${result.created ? "made" : "changed"} ${folder}/${title}: ${field}`);
  if (options.json === true) printJson(result);
}

async function readValue(file: string | undefined): Promise<string> {
  if (file !== undefined) return readNamedFile(file);
  if (!stdinIsTerminal()) return withoutLastBreak(await readStdin());
  return askHidden(["Value"], "give the value on stdin or with --file")[0] ?? "";
}
