import { CofferError } from "@coffer/sdk";
import type { DataOptions } from "../command-row.ts";
import { exitCodes, Failure } from "../failure.ts";
import { visible } from "../output/output.ts";
import { quoteValue } from "../output/quote-value.ts";
import { asPerson, machineConfigurationOf } from "./access.ts";

/**
 * Runs `read`. When it finds no folder, and the person has a vault with that name, the failure
 * explains the difference and names the right command. `folders` are names or ids as the person
 * wrote them.
 */
export async function unlessVault<T>(
  folders: Iterable<string>,
  options: DataOptions,
  env: NodeJS.ProcessEnv,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "not_found") throw error;
    const vault = await vaultNamed(folders, options, env);
    if (vault === undefined) throw error;
    throw new Failure(
      exitCodes.notFound,
      `${visible(vault)} is a vault, and coffer:// names folders: vaults hold people's records, folders hold secrets for ` +
        `programs. To read a record: \`coffer record get ${visible(quoteValue(vault))} <record>\``,
    );
  }
}

async function vaultNamed(
  folders: Iterable<string>,
  options: DataOptions,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (machineConfigurationOf(options, env) !== undefined) return undefined;
  const wanted = new Set(Array.from(folders, (folder) => folder.toLowerCase()));
  try {
    const vaults = await (await asPerson(options, env)).vaults.list();
    return vaults.find(({ id, name }) => wanted.has(id) || wanted.has(name.toLowerCase()))?.name;
  } catch {
    // Report the first failure.
    return undefined;
  }
}
