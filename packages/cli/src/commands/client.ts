import { isUuid } from "@coffer/sdk";
import type { Call } from "../command-row.ts";
import { Failure, exitCodes } from "../failure.ts";
import { forgetHolders } from "../forget-holders.ts";
import { ofApplications } from "../of-applications.ts";
import type { ApplicationOptions } from "../of-applications.ts";
import { printList, shortTime, tell } from "../output.ts";
import { profileDirectory } from "../paths.ts";

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
    if (client === undefined) throw new Failure(exitCodes.notFound, `there is no machine ${id} that you may see`);
    await person.machines.remove(client.application_id, id);
    tell(`cut off the machine ${client.name} (${id})`);
  });
}

function allClients(options: ApplicationOptions, env: NodeJS.ProcessEnv) {
  return ofApplications(options, env, (person, id) => person.machines.list(id));
}
