import type { VaultRecord } from "@coffer/sdk";
import type { PickedVault } from "../pick-vault.ts";

/** How often the records are listed when more are counted than came: somebody may be adding some. */
const attempts = 3;

export interface WholeList {
  /** Those that can be opened. */
  records: VaultRecord[];
  /** How many were listed, also of those that cannot be opened. */
  came: number;
  /** How many the service counts, after it has listed them: who removes records meanwhile makes it no more than came. */
  counted: number;
}

/** A vault's records, and whether that is all of them by the service's own count. */
export async function wholeList({ person, vault, leftOut }: PickedVault): Promise<WholeList> {
  for (let attempt = 1; ; attempt += 1) {
    const records = await person.records.list(vault.id);
    const { record_count: counted } = await person.vaults.get(vault.id);
    const came = records.length + leftOut.size;
    if (came >= counted || attempt === attempts) return { records, came, counted };
  }
}
