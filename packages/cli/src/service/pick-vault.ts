import type { PersonClient, Vault } from "@coffer/sdk";
import type { PersonOptions } from "../command-row.ts";
import { asMember, type Member } from "./access.ts";

/** A vault, with the person. */
export interface PickedVault {
  person: PersonClient;
  vault: Vault;
  /** Ids of the records that lists have omitted because they cannot be opened. */
  leftOut: ReadonlySet<string>;
}

/**
 * The person and the vault with that name or id; `--org` narrows both. Throws CofferError
 * `not_found`, `name_ambiguous`; usage for a wrong `--org`.
 */
export async function withVault(
  options: PersonOptions,
  env: NodeJS.ProcessEnv,
  nameOrId: string,
): Promise<PickedVault> {
  const { person, organization, leftOut } = await asMember(options, env);
  return { person, vault: await person.vaults.find(nameOrId, { organization }), leftOut };
}

/** The vaults that a person can see, with `--org` those of that organization. */
export async function vaultsOf({ person, organization }: Member): Promise<Vault[]> {
  const vaults = await person.vaults.list();
  return vaults.filter((vault) => organization === undefined || vault.org_id === organization);
}
