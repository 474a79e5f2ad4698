import type { RecordType } from "@coffer/sdk";
import type { Call, DataOptions } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { readNamedFile, readStdin, withoutLastBreak } from "../../input/inputs.ts";
import { momentAfter } from "../../input/moment.ts";
import { notationArgument } from "../../input/notation-argument.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { promptHidden } from "../../input/terminal.ts";
import { printJson, printNotice, shortTime } from "../../output/output.ts";
import { secretsOf } from "../../service/access.ts";

interface Options extends DataOptions {
  type?: RecordType;
  file?: string;
  expires?: string;
  allowEmpty?: boolean;
}

/** `coffer set <uri>`: writes one field, and creates the secret when there is none. */
export async function set({ args: [uri = ""], options, env }: Call<Options>): Promise<void> {
  const { folder, title, field } = notationArgument(uri);
  const expiresAt = expiryOf(options.expires);
  const secrets = await secretsOf(options, env);
  const value = await readValue(options.file);
  // A failed producer would otherwise overwrite the value.
  if (value === "" && options.allowEmpty !== true)
    throw usage("the value is empty, nothing was written: if that is what you mean, add --allow-empty");
  const result = await secrets.set(uri, value, { type: options.type, expiresAt });
  const expiry = result.expires_at == null ? "" : `, expires ${shortTime(result.expires_at)}`;
  printNotice(`${result.created ? "made" : "changed"} ${folder}/${title}: ${field}${expiry}`);
  if (options.json === true) printJson(result);
}

/** Null for `never`; undefined leaves the moment of an existing secret. */
function expiryOf(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  return text === "never" ? null : momentAfter(Date.now(), text);
}

async function readValue(file: string | undefined): Promise<string> {
  if (file !== undefined) return readNamedFile(file);
  if (!stdinIsTerminal()) return withoutLastBreak(await readStdin());
  return promptHidden(["Value"], "give the value on stdin or with --file")[0] ?? "";
}
