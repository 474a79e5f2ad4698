import type { Call, PersonOptions } from "../../command-row.ts";
import { print, printJson, printList, printNotice } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";

/** `coffer org ls`: under the names of the histories, where this device knows them, as for `--org`. */
export async function listOrganizations({ options, env }: Call<PersonOptions>): Promise<void> {
  const { organizations } = await asPerson(options, env);
  const [listed, nameable] = await Promise.all([organizations.list(), organizations.nameable()]);
  const names = new Map(nameable.map(({ id, name }) => [id, name]));
  const named = listed.map((one) => ({ ...one, name: names.get(one.id) ?? one.name }));
  printList(named, options, ["ID", "NAME", "ROLE", "STATUS"], ({ id, name, role, status }) => [id, name, role, status]);
}

/**
 * `coffer org create <name>`: creates an organization with oneself as its owner and prints its id.
 */
export async function createOrganization({ args: [name = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const organization = await (await asPerson(options, env)).organizations.create(name);
  printNotice(`made the organization ${name}`);
  if (options.json === true) printJson(organization);
  else print(organization.id);
}
