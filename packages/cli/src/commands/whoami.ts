import { asMachine, asPerson, machineConfigurationOf } from "../access.ts";
import type { Call, DataOptions } from "../command-row.ts";
import { print, printJson, visible } from "../output.ts";

/** `coffer whoami`: who the service says one is, as a person or a machine. */
export async function whoami({ options, env }: Call<DataOptions>): Promise<void> {
  const configuration = machineConfigurationOf(options, env);
  if (configuration !== undefined) {
    const machine = await asMachine(configuration, options, env);
    const client = await machine.client();
    if (options.json === true) printJson({ type: "client", url: machine.url, ...client });
    else {
      print(`machine ${visible(client.name)} (${client.client_id}) at ${machine.url}`);
      for (const { name, permission } of client.folders) print(`${visible(name)}: ${permission}`);
    }
    return;
  }
  const person = await asPerson(options, env);
  const { user, organizations } = await person.account();
  if (options.json === true) printJson({ type: "user", url: person.url, user, organizations });
  else {
    print(`${visible(user.email)} at ${person.url}`);
    for (const { name, role } of organizations) print(`${visible(name)}: ${role}`);
  }
}
