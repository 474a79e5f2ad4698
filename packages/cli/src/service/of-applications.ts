import type { PersonClient } from "@coffer/sdk";
import type { PersonOptions } from "../command-row.ts";
import { asPerson } from "./access.ts";
import { pick } from "./pick.ts";

export interface ApplicationOptions extends PersonOptions {
  app?: string;
}

/** An object of an application. */
export type Owned<T> = T & { application_id: string; application: string };

/** The results of `list` for the application of `--app`, or for each one, with the person. */
export async function ofApplications<T>(
  options: ApplicationOptions,
  env: NodeJS.ProcessEnv,
  list: (person: PersonClient, applicationId: string) => Promise<T[]>,
): Promise<{ person: PersonClient; found: Owned<T>[] }> {
  const person = await asPerson(options, env);
  const all = await person.applications.list();
  const applications = options.app === undefined ? all : [pick(all, options.app, "application")];
  const lists = applications.map(async ({ id, name }) =>
    (await list(person, id)).map((one) => ({ ...one, application_id: id, application: name })),
  );
  return { person, found: (await Promise.all(lists)).flat() };
}
