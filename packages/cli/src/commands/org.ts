import { asPerson } from "../access.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { printJson, printTable } from "../output.ts";

/** `coffer org ls`: the organizations one belongs to. */
export async function listOrganizations({ options, env }: Call<PersonOptions>): Promise<void> {
  const organizations = await (await asPerson(options, env)).organizations.list();
  if (options.json === true) printJson(organizations);
  else
    printTable(
      ["ID", "NAME", "ROLE", "STATUS"],
      organizations.map(({ id, name, role, status }) => [id, name, role, status]),
    );
}
