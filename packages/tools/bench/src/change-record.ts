import { preciseNow } from "./devices/devices.ts";
import type { VaultBench } from "./vault-row.ts";

let changes = 0;

/**
 * Changes a record of the first of the vaults.
 * @returns the time of the response, in milliseconds since the Unix epoch
 */
export async function changeRecord({ coffer, seeded }: VaultBench): Promise<number> {
  const [vaultId] = seeded.vaultIds;
  const [{ token }] = seeded.people;
  changes += 1;
  const record = (changes * seeded.vaultIds.length) % seeded.size.records;
  const response = await fetch(`${coffer.url}/api/vaults/${vaultId}/records/${seeded.recordId(record)}`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-forwarded-for": `10.203.${(changes >> 8) & 255}.${changes & 255}`,
    },
    body: JSON.stringify({ type: "login", encrypted_data: "QUJD".repeat(342) }),
  });
  const answered = preciseNow();
  if (response.status !== 200) throw new Error(`the change was answered ${response.status}`);
  await response.arrayBuffer();
  return answered;
}
