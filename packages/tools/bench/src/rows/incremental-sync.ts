import { startDevices } from "../devices/devices.ts";
import { median } from "../measure.ts";
import { absoluteFigure, type Figure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";

const changed = 20;

/** The sync of a device that was away for 20 changes. */
export const incrementalSync: VaultRow = {
  name: "incremental-sync",
  async run({ coffer, seeded, rounds }: VaultBench): Promise<Figure[]> {
    const { people, vaultIds, recordId, size } = seeded;
    const [writer, reader = writer] = people;
    const devices = startDevices();
    const times: number[] = [];
    try {
      const open = { url: coffer.urls.sync ?? "", tokens: [reader.token], count: 1, atATime: 1 };
      const { serverTime } = await devices.request("open", { ...open, sync: "everything" });
      let since = serverTime;
      for (let round = 0; round < 10 * rounds; round += 1) {
        for (let n = 0; n < changed; n += 1) {
          const record = (round * 997 + n * 31) % size.records;
          const vaultId = vaultIds[record % vaultIds.length] ?? vaultIds[0];
          const response = await fetch(`${coffer.url}/api/vaults/${vaultId}/records/${recordId(record)}`, {
            method: "PUT",
            headers: {
              authorization: `Bearer ${writer.token}`,
              "content-type": "application/json",
              "x-forwarded-for": `10.202.${round}.${n}`,
            },
            body: JSON.stringify({ type: "login", encrypted_data: "QUJD".repeat(342) }),
          });
          if (response.status !== 200) throw new Error(`the change was answered ${response.status}`);
          await response.arrayBuffer();
        }
        // The device was away: pushes meanwhile go to another connection.
        await devices.request("close", null);
        await devices.request("open", { ...open, sync: null });
        const synced = await devices.request("sync", { device: 0, since });
        if (synced.changes < changed) throw new Error(`${synced.changes} of ${changed} changes came`);
        since = synced.serverTime;
        times.push(synced.milliseconds);
      }
      return [absoluteFigure("incremental sync: p50", "ms", median(times), 10)];
    } finally {
      devices.end();
    }
  },
};
