import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { interleaved, median } from "../measure.ts";
import { type Figure, ratioFigure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";

const records = 1_000;
const ciphertext = "QUJD".repeat(342);

/** An import of 1,000 records of 1 KiB, beside `COPY` of the same rows. */
export const importRecords: VaultRow = {
  name: "import",
  async run({ coffer, seeded, rounds }: VaultBench): Promise<Figure[]> {
    const [vaultId] = seeded.vaultIds;
    const [{ token }] = seeded.people;
    const client = new pg.Client({ connectionString: coffer.postgresUrl, options: "-c search_path=vaults,public" });
    await client.connect();
    const body = JSON.stringify({
      records: Array.from({ length: records }, () => ({ type: "login", encrypted_data: ciphertext })),
    });
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await work();
      return performance.now() - started;
    };
    let imports = 0;
    const importAll = async (): Promise<void> => {
      const response = await fetch(`${coffer.url}/api/vaults/${vaultId}/import`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "x-forwarded-for": `10.201.0.${(imports += 1)}`,
        },
        body,
      });
      const { imported } = (await response.json()) as { imported?: number }; // as the specification has it
      if (imported !== records) throw new Error(`${imported ?? 0} of ${records} were imported`);
    };
    const copyAll = async (): Promise<void> => {
      const stream = client.query(
        copyFrom("COPY records (vault_id, id, type, encrypted_data, created_at, updated_at) FROM STDIN"),
      );
      const now = new Date().toISOString();
      for (let n = 0; n < records; n += 1)
        stream.write(`${vaultId}\t${randomUUID()}\tlogin\t${ciphertext}\t${now}\t${now}\n`);
      stream.end();
      await finished(stream);
    };
    try {
      const { a, b } = await interleaved(
        3 * rounds,
        () => timed(importAll),
        () => timed(copyAll),
      );
      return [ratioFigure(`import of ${records} records of 1 KiB`, "ms", median(a), median(b), { atMost: 6 })];
    } finally {
      await client.end();
    }
  },
};
