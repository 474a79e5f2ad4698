import type { Call, PersonOptions } from "../../command-row.ts";
import { print, printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";
import { pick } from "../../service/pick.ts";
import { printClosed } from "./token.ts";

interface CreateOptions extends PersonOptions {
  description?: string;
}

/** `coffer app create <name>`: creates an application and prints its id. */
export async function createApplication({ args: [name = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const application = await (await asPerson(options, env)).applications.create(name, options.description);
  printNotice(`made the application ${name}`);
  if (options.json === true) printJson(application);
  else print(application.id);
}

/** `coffer app ls`: the organization's applications. */
export async function listApplications({ options, env }: Call<PersonOptions>): Promise<void> {
  const applications = await (await asPerson(options, env)).applications.list();
  printList(
    applications,
    options,
    ["ID", "NAME", "DESCRIPTION", "CREATED"],
    ({ id, name, description, created_at }) => [id, name, description ?? "", shortTime(created_at)],
  );
}

/** `coffer app rename <app> <name>` */
export async function renameApplication({ args: [nameOrId = "", name = ""], options, env }: Call<CreateOptions>) {
  const person = await asPerson(options, env);
  const application = pick(await person.applications.list(), nameOrId, "application");
  const renamed = await person.applications.update(application.id, { name, description: options.description });
  printNotice(`the application ${application.name} is now ${visible(renamed.name)}`);
  if (options.json === true) printJson(renamed);
}

/** `coffer app rm <app>`: removes an application and revokes its machines. */
export async function removeApplication({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const application = pick(await person.applications.list(), nameOrId, "application");
  const closed = await person.applications.remove(application.id);
  printNotice(`removed the application ${application.name} and revoked its machines`);
  printClosed(closed);
}
