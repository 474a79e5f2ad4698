import { isUuid } from "@coffer/sdk";
import { asPerson, pick, sessionAt } from "../access.ts";
import type { Call } from "../command-row.ts";
import { Failure, exitCodes } from "../failure.ts";
import { forgetHolders } from "../forget-holders.ts";
import { canonical, rememberTakenOff } from "../known-holders.ts";
import { confirmKey } from "../known-keys.ts";
import type { ConfirmOptions } from "../known-keys.ts";
import { ofApplications } from "../of-applications.ts";
import type { ApplicationOptions } from "../of-applications.ts";
import { printJson, printList, shortTime, tell, visible } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { serviceKey } from "../same-service.ts";

/** `coffer client ls`: the machines of an application, or of all. */
export async function listClients({ options, env }: Call<ApplicationOptions>): Promise<void> {
  const { found } = await allClients(options, env);
  printList(
    found,
    options,
    ["CLIENT ID", "APPLICATION", "NAME", "STATUS", "LAST USED", "FROM"],
    ({ client_id, application, name, status, last_used_at, last_ip }) => [
      client_id,
      application,
      name,
      status,
      shortTime(last_used_at),
      last_ip ?? "",
    ],
  );
}

/** `coffer client rm <client id>`: cuts a machine off within a second. */
export async function removeClient({ args: [id = ""], options, env }: Call<ApplicationOptions>): Promise<void> {
  const { person, found } = await allClients(options, env);
  const client = found.find(({ client_id }) => client_id === id);
  await forgetHolders(profileDirectory(env), person.url, isUuid(id) ? [id] : [], async () => {
    if (client === undefined) throw noMachine(id);
    await person.machines.remove(client.application_id, id);
    tell(`cut off the machine ${client.name} (${id})`);
  });
}

interface ShareOptions extends ApplicationOptions, ConfirmOptions {
  permission: "read" | "write";
}

/** `coffer client share <client id> <folder>`: gives a machine the folder with its key, or changes the permission. */
export async function shareWithClient({ args: [id = "", folder = ""], options, env }: Call<ShareOptions>) {
  const { person, found } = await allClients(options, env);
  const { id: folderId, name } = pick(await person.folders.list(), folder, "folder");
  const client = oneOf(found, id);
  const confirm = confirmKey(profileDirectory(env), await sessionAt(person.url, env), options, folderId);
  const request = { clientId: client.client_id, folderId, permission: options.permission };
  const grant = await person.machines.share(client.application_id, request, confirm);
  tell(`the machine ${visible(client.name)} may ${grant.permission} in ${visible(name)}`);
  if (options.json === true) printJson(grant);
}

/** `coffer client unshare <client id> <folder>`: takes the folder away from a machine. */
export async function unshareFromClient({ args: [id = "", folder = ""], options, env }: Call<ApplicationOptions>) {
  const person = await asPerson(options, env);
  const { id: folderId, name } = pick(await person.folders.list(), folder, "folder");
  // Before the service is asked: it may refuse, or not show the machine that it is to take the folder from.
  if (isUuid(id)) await rememberTakenOff(profileDirectory(env), serviceKey(person.url), folderId, [canonical(id)]);
  const client = oneOf((await allClients(options, env)).found, id);
  await person.machines.unshare(client.application_id, client.client_id, folderId);
  tell(
    `took ${visible(name)} away from the machine ${visible(client.name)}. It may have kept its key: \`coffer folder rotate ${visible(name)}\` makes a new one`,
  );
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
