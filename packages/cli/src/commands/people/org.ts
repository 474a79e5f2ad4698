import type { Call, PersonOptions } from "../../command-row.ts";
import { print, printJson, printList, printNotice } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";

/** `coffer org ls` */
export async function listOrganizations({ options, env }: Call<PersonOptions>): Promise<void> {
  const organizations = await (await asPerson(options, env)).organizations.list();
  printList(organizations, options, ["ID", "NAME", "ROLE", "STATUS"], ({ id, name, role, status }) => [
    id,
    name,
    role,
    status,
  ]);
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
