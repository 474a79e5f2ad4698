import type { Call, DataOptions } from "../../command-row.ts";
import { fingerprintLines } from "../../output/fingerprint-lines.ts";
import { print, printJson } from "../../output/output.ts";
import { asMachine, asPerson, machineConfigurationOf } from "../../service/access.ts";

/**
 * `coffer whoami`: the identity that the service shows, as a person or a machine, and the
 * fingerprint of one's own key, computed from the private key.
 */
export async function whoami({ options, env }: Call<DataOptions>): Promise<void> {
  const configuration = machineConfigurationOf(options, env);
  if (configuration !== undefined) {
    const machine = await asMachine(configuration, options, env);
    const fingerprint = await machine.fingerprint();
    const client = await machine.client();
    if (options.json === true) printJson({ type: "client", url: machine.url, ...client, fingerprint });
    else {
      print(`machine ${client.name} (${client.client_id}) at ${machine.url}`);
      for (const { name, permission } of client.folders) print(`${name}: ${permission}`);
      print(...fingerprintLines(fingerprint));
    }
    return;
  }
  const person = await asPerson(options, env);
  const fingerprint = await person.fingerprint();
  const { user, organizations } = await person.account();
  if (options.json === true) printJson({ type: "user", url: person.url, user, organizations, fingerprint });
  else {
    print(`${user.email} at ${person.url}`);
    for (const { name, role } of organizations) print(`${name}: ${role}`);
    print(...fingerprintLines(fingerprint));
  }
}
