import type { Secret } from "@coffer/sdk";
import type { Call, DataOptions } from "../../command-row.ts";
import { printJson, printTable, shortTime } from "../../output/output.ts";
import { expiryText, secretJson } from "../../output/secret-json.ts";
import { secretsOf } from "../../service/access.ts";

/** `coffer ls [folder]`: the secrets one may read, without their values. */
export async function list({ args: [folder], options, env }: Call<DataOptions>): Promise<void> {
  const secrets = await (await secretsOf(options, env)).list(folder);
  const key = ({ folder: name, title }: Secret): string => `${name}\0${title}`;
  show(
    secrets.sort((a, b) => (key(a) < key(b) ? -1 : 1)),
    options,
  );
}

/** `coffer search <text>`: the secrets whose title contains a text. */
export async function search({ args: [text = ""], options, env }: Call<DataOptions>): Promise<void> {
  show(await (await secretsOf(options, env)).search(text), options);
}

function show(secrets: readonly Secret[], options: DataOptions): void {
  if (options.json === true) {
    printJson(secrets.map(secretJson));
    return;
  }
  printTable(
    ["UID", "FOLDER", "TITLE", "TYPE", "FIELDS", "UPDATED", "EXPIRES"],
    secrets.map((secret) => [
      secret.uid,
      secret.folder,
      secret.title,
      secret.type,
      Object.keys(secret.fields).join(","),
      shortTime(secret.updated_at),
      expiryText(secret),
    ]),
  );
}
