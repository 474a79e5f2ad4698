import { asPerson, pick } from "../access.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { Failure, exitCodes } from "../failure.ts";
import { printJson, printTable, shortTime, tell } from "../output.ts";

interface Options extends PersonOptions {
  app?: string;
}

/** `coffer client ls`: the machines of an application, or of all. */
export async function listClients({ options, env }: Call<Options>): Promise<void> {
  const { found } = await allClients(options, env);
  if (options.json === true) printJson(found);
  else
    printTable(
      ["CLIENT ID", "APPLICATION", "NAME", "STATUS", "LAST USED", "FROM"],
      found.map(({ client_id, application, name, status, last_used_at, last_ip }) => [
        client_id,
        application,
        name,
        status,
        shortTime(last_used_at),
        last_ip ?? "",
      ]),
    );
}

/** `coffer client rm <client id>`: cuts a machine off within a second. */
export async function removeClient({ args: [id = ""], options, env }: Call<Options>): Promise<void> {
  const { person, found } = await allClients(options, env);
  const client = found.find(({ client_id }) => client_id === id);
  if (client === undefined) throw new Failure(exitCodes.notFound, `there is no machine ${id} that you may see`);
  await person.machines.remove(client.application_id, id);
  tell(`cut off the machine ${client.name} (${id})`);
}

async function allClients(options: Options, env: NodeJS.ProcessEnv) {
  const person = await asPerson(options, env);
  const all = await person.applications.list();
  const applications = options.app === undefined ? all : [pick(all, options.app, "application")];
  const lists = applications.map(async ({ id, name }) =>
    (await person.machines.list(id)).map((machine) => ({ ...machine, application_id: id, application: name })),
  );
  return { person, found: (await Promise.all(lists)).flat() };
}
