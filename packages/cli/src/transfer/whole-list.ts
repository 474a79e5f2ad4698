import type { VaultRecord } from "@coffer/sdk";
import type { PickedVault } from "../service/pick-vault.ts";

/**
 * How often the list is repeated when the service counts more records: they may be added meanwhile.
 */
const attempts = 3;

export interface WholeList {
  /** The readable records. */
  records: VaultRecord[];
  /** The number of listed records, including unreadable ones. */
  came: number;
  /** The service's count after the list: concurrent deletions make it no larger than `came`. */
  counted: number;
}

/** A vault's records, and whether the list is complete according to the service's count. */
export async function wholeList({ person, vault, leftOut }: PickedVault): Promise<WholeList> {
  for (let attempt = 1; ; attempt += 1) {
    const records = await person.records.list(vault.id);
    const { record_count: counted } = await person.vaults.get(vault.id);
    const came = records.length + leftOut.size;
    if (came >= counted || attempt === attempts) return { records, came, counted };
  }
}
