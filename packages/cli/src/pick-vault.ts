import type { PersonClient, Vault } from "@coffer/sdk";
import { asPerson, pick } from "./access.ts";
import type { PersonOptions } from "./command-row.ts";

/** The person and the vault of that name or id; `--org` narrows names. Throws Failure: not found, or usage. */
export async function withVault(
  options: PersonOptions,
  env: NodeJS.ProcessEnv,
  nameOrId: string,
): Promise<{ person: PersonClient; vault: Vault }> {
  const person = await asPerson(options, env);
  return { person, vault: pick(await person.vaults.list(), nameOrId, "vault") };
}
