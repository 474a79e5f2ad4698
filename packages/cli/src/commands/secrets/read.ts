import { CofferError, type MachineClient } from "@coffer/sdk";
import type { CachedOptions, Call } from "../../command-row.ts";
import { notationArgument } from "../../input/notation-argument.ts";
import { printExact, printJson } from "../../output/output.ts";
import { asMachine, asPerson, checkCache, machineConfigurationOf } from "../../service/access.ts";
import { unlessVault } from "../../service/vault-for-folder.ts";

interface Options extends CachedOptions {
  newline: boolean;
}

/** `coffer read <uri>`: the value of one field. */
export async function read({ args: [uri = ""], options, env }: Call<Options>): Promise<void> {
  const { folder } = notationArgument(uri);
  checkCache(options, env);
  const configuration = machineConfigurationOf(options, env);
  const value =
    configuration === undefined
      ? await unlessVault([folder], options, env, async () => (await asPerson(options, env)).secrets.read(uri))
      : await readAsMachine(await asMachine(configuration, options, env), uri, options.cache !== undefined);
  if (options.json === true) printJson({ uri, value });
  else if (options.newline) printExact(value);
  else process.stdout.write(value);
}

/**
 * Requests one field from the service. It finds no secret whose title or field is not indexed, so
 * the list is the fallback.
 */
async function readAsMachine(machine: MachineClient, uri: string, fromList: boolean): Promise<string> {
  // The list is what the cache stores.
  if (fromList) return machine.read(uri);
  try {
    return (await machine.resolve(uri)).value;
  } catch (error) {
    if (error instanceof CofferError && error.code === "secret_not_found") return machine.read(uri);
    throw error;
  }
}
