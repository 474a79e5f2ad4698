import type { Call, DataOptions } from "../../command-row.ts";
import { secretNotationArgument } from "../../input/notation-argument.ts";
import { print, printExact, printJson, visible, visibleLines } from "../../output/output.ts";
import { expiryText, secretJson } from "../../output/secret-json.ts";
import { secretsOf } from "../../service/access.ts";

/** `coffer get <secret>`: one secret with all its fields, by uid, title or notation. */
export async function get({ args: [name = ""], options, env }: Call<DataOptions>): Promise<void> {
  if (name.includes("://")) secretNotationArgument(name);
  const secret = await (await secretsOf(options, env)).find(name);
  if (options.json === true) {
    printJson({ ...secretJson(secret), name: secret.name, notes: secret.notes ?? null, fields: secret.fields });
    return;
  }
  // A terminal gets the value escaped; a file or program gets it unchanged.
  const shown = (text: string): string => (process.stdout.isTTY ? visibleLines(text) : text);
  const expiry = secret.expires_at === null ? "" : `, ${secret.expired ? "" : "expires "}${expiryText(secret)}`;
  print(`${visible(secret.folder)}/${visible(secret.title)} (${secret.type}, version ${secret.version}${expiry})`);
  for (const [name, value] of Object.entries(secret.fields)) printExact(`${visible(name)}: ${shown(value)}`);
  if (secret.notes !== undefined) printExact(`notes: ${shown(secret.notes)}`);
}
