import { CofferError } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure } from "../../failure.ts";
import { print, printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";

/** `coffer folder create <name>`: creates a folder with a new key and prints its id. */
export async function createFolder({ args: [name = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const folder = await (await asPerson(options, env)).folders.create(name);
  printNotice(`made the folder ${name}`);
  if (options.json === true) printJson(folder);
  else print(folder.id);
}

/** `coffer folder ls` */
export async function listFolders({ options, env }: Call<PersonOptions>): Promise<void> {
  const folders = await (await asPerson(options, env)).folders.list();
  printList(
    folders,
    options,
    ["ID", "NAME", "PERMISSION", "KEY VERSION", "UPDATED", "KEY"],
    ({ id, name, permission, key_version, updated_at, problem }) => [
      id,
      name,
      permission ?? "",
      String(key_version),
      shortTime(updated_at),
      problem ?? "",
    ],
  );
}

/** `coffer folder rename <folder> <name>` */
export async function renameFolder({ args: [nameOrId = "", name = ""], options, env }: Call<PersonOptions>) {
  const person = await asPerson(options, env);
  const folder = await person.folders.find(nameOrId);
  const renamed = await person.folders.rename(folder.id, name);
  printNotice(`the folder ${folder.name} is now ${visible(renamed.name)}`);
  if (options.json === true) printJson(renamed);
}

interface RemoveOptions extends PersonOptions {
  force?: boolean;
}

/** `coffer folder rm <folder>`: removes a folder; with `--force` also the secrets in it. */
export async function removeFolder({ args: [nameOrId = ""], options, env }: Call<RemoveOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const folder = await person.folders.find(nameOrId);
  await person.folders.remove(folder.id, { force: options.force }).catch((error: unknown) => {
    const holdsSecrets = error instanceof CofferError && error.code === "conflict" && options.force !== true;
    if (!holdsSecrets) throw error;
    throw new Failure(
      exitCodes.failure,
      `the folder ${visible(folder.name)} holds secrets: add --force to remove them with it`,
    );
  });
  printNotice(`removed the folder ${folder.name}`);
}
