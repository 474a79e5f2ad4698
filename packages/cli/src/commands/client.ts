import type { PersonClient } from "@coffer/sdk";
import type { Call } from "../command-row.ts";
import { Failure, exitCodes } from "../failure.ts";
import { compareWords } from "../compare-words.ts";
import type { ConfirmOptions } from "../compare-words.ts";
import { withFingerprints } from "../fingerprint-lines.ts";
import { ofApplications } from "../of-applications.ts";
import type { ApplicationOptions } from "../of-applications.ts";
import { printJson, printList, shortTime, tell } from "../output.ts";

/** `coffer client ls`: the machines of an application, or of all, with the words of the keys that the service shows. */
export async function listClients({ options, env }: Call<ApplicationOptions>): Promise<void> {
  const { found } = await allClients(options, env);
  printList(
    await withFingerprints(found),
    options,
    ["CLIENT ID", "APPLICATION", "NAME", "STATUS", "LAST USED", "FROM", "WORDS"],
    ({ client_id, application, name, status, last_used_at, last_ip, fingerprint }) => [
      client_id,
      application,
      name,
      status,
      shortTime(last_used_at),
      last_ip ?? "",
      fingerprint?.words ?? "no key",
    ],
  );
}

/** `coffer client rm <client id>`: cuts a machine off within a second. */
export async function removeClient({ args: [id = ""], options, env }: Call<ApplicationOptions>): Promise<void> {
  const { person, found } = await allClients(options, env);
  const client = oneOf(found, id);
  await person.machines.remove(client.application_id, client.client_id);
  tell(`cut off ${machineOf(client)}`);
  await tellToRotate(person, `client:${client.client_id}`, machineOf(client));
}

interface ShareOptions extends ApplicationOptions, ConfirmOptions {
  permission: "read" | "write";
}

/** `coffer client share <client id> <folder>`: gives a machine the folder with its key, or changes the permission. */
export async function shareWithClient({ args: [id = "", folder = ""], options, env }: Call<ShareOptions>) {
  const { person, found } = await allClients(options, env);
  const { id: folderId, name } = await person.folders.find(folder);
  const client = oneOf(found, id);
  const request = { clientId: client.client_id, folderId, permission: options.permission };
  const undone = `${name} was not shared with it`;
  const grant = await person.machines.share(client.application_id, request, compareWords(options, undone));
  tell(`${machineOf(client)} may ${grant.permission} in ${name}`);
  if (options.json === true) printJson(grant);
}

/** `coffer client unshare <client id> <folder>`: takes the folder away from a machine. */
export async function unshareFromClient({ args: [id = "", folder = ""], options, env }: Call<ApplicationOptions>) {
  const { person, found } = await allClients(options, env);
  const { id: folderId, name } = await person.folders.find(folder);
  const client = oneOf(found, id);
  await person.machines.unshare(client.application_id, client.client_id, folderId);
  tell(`took ${name} away from ${machineOf(client)}, which may have kept its key`);
  tell(`the history of ${name} still names it: \`coffer folder rotate ${name}\` ends that and makes a new key`);
}

/** `coffer client confirm <client id>`: after the words were compared, names a machine in the histories of its folders. */
export async function confirmClient({ args: [id = ""], options, env }: Call<ApplicationOptions & ConfirmOptions>) {
  const { person, found } = await allClients(options, env);
  const client = oneOf(found, id);
  const confirm = compareWords(options, "no folder's history names it, and it has no key");
  const confirmed = await person.machines.confirm(client.application_id, client.client_id, confirm);
  if (confirmed.length === 0)
    tell(`the histories of the folders that you manage name ${machineOf(client)} already, where it has access`);
  for (const { name } of confirmed) tell(`${machineOf(client)} is confirmed in ${name}, and has its key`);
  if (options.json === true) printJson(confirmed);
}

/** Names what still waits for a manager after an access has ended. */
export async function tellToRotate(person: PersonClient, who: string, what: string): Promise<void> {
  for (const { kind, name } of await person.stillNaming(who))
    tell(`the history of ${name} still names ${what}: \`coffer ${kind} rotate ${name}\` ends that`);
}

/** A machine in a sentence. Its name is the service's word: its client id is what tells two machines apart. */
function machineOf({ name, client_id }: { name: string; client_id: string }): string {
  return `the machine ${name} (${client_id})`;
}

/** The machine of that id. Throws Failure: not found. */
function oneOf<T extends { client_id: string }>(found: readonly T[], id: string): T {
  const client = found.find(({ client_id }) => client_id === id.toLowerCase());
  if (client === undefined) throw noMachine(id);
  return client;
}

function noMachine(id: string): Failure {
  return new Failure(exitCodes.notFound, `there is no machine ${id} that you may see`);
}

function allClients(options: ApplicationOptions, env: NodeJS.ProcessEnv) {
  return ofApplications(options, env, (person, id) => person.machines.list(id));
}
