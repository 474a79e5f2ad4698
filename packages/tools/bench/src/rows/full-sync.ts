import { residentMebibytes } from "../cpu.ts";
import { startBareServer } from "../devices/bare-server.ts";
import { startDevices } from "../devices/devices.ts";
import { interleaved, median } from "../measure.ts";
import { absoluteFigure, type Figure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";

/** Everything in one response, beside the same rows read by one bare query and sent by bare `ws`. */
export const fullSync: VaultRow = {
  name: "full-sync",
  async run({ coffer, seeded, rounds }: VaultBench): Promise<Figure[]> {
    const { vaultId, owner } = seeded.large;
    const bare = await startBareServer({ postgresUrl: coffer.postgresUrl, vaultId });
    const devices = startDevices();
    const resident = (): number =>
      residentMebibytes(coffer.servicePids.sync ?? 0) + residentMebibytes(coffer.servicePids.vaults ?? 0);
    const everything = async (): Promise<number> => {
      const { milliseconds, changes } = await devices.request("sync", { device: 0, since: null });
      if (changes !== seeded.size.large) throw new Error(`${changes} of ${seeded.size.large} records came`);
      return milliseconds;
    };
    try {
      const open = { url: coffer.urls.sync ?? "", tokens: [owner.token], count: 1, atATime: 1, sync: null };
      await devices.request("open", open);
      const { a, b } = await interleaved(rounds, everything, async () => {
        return (await devices.request("bare", { url: bare.url })).milliseconds;
      });
      const before = resident();
      for (let n = 0; n < 10; n += 1) await everything();
      const name = `full sync of ${seeded.size.large} records of 2 KiB`;
      return [
        absoluteFigure(name, "ms", median(a), (440 * seeded.size.large) / 10_000, median(b)),
        absoluteFigure(`${name}: memory after ten more`, "MiB", resident() - before, 64),
      ];
    } finally {
      devices.end();
      bare.end();
    }
  },
};
