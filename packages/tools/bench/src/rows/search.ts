import { createHash } from "node:crypto";
import pg from "pg";
import type { LoadResult, Request } from "../load.ts";
import { interleaved, median } from "../measure.ts";
import { absoluteFigure, type Bench, type Figure, type Row } from "../row.ts";
import { addresses, secretReads } from "./secret-read.ts";

/**
 * Substring search over every title of the organization, by a machine that may see all of them,
 * beside secret reads.
 */
export const search: Row = {
  name: "search",
  async run({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
    const [machine] = seeded.machines;
    if (machine === undefined) throw new Error("there are no machines to search with");
    const client = new pg.Client({ connectionString: coffer.postgresUrl, options: "-c search_path=auth_sm,public" });
    await client.connect();
    try {
      await client.query(
        `INSERT INTO client_folders (client_id, folder_id, permission, added_at)
         SELECT $1, id, 'read', now() FROM folders WHERE org_id = $2 ON CONFLICT DO NOTHING`,
        [machine.clientId, seeded.orgId],
      );
      const requests = Array.from({ length: 500 }, (_, n): Request => {
        const digest = createHash("md5")
          .update(String((n * 197) % seeded.size.secrets))
          .digest("hex");
        return {
          method: "GET",
          path: `/api/sm/v1/secrets/search?title=${digest.slice(3, 11)}`,
          headers: { authorization: `Bearer ${machine.token}` },
        };
      });
      const load = { url: coffer.url, connections: 8, seconds, addresses, expect: 200 };
      const { a, b } = await interleaved(
        rounds,
        () => loader.run({ ...load, requests }),
        () => loader.run({ ...load, requests: secretReads(seeded) }),
      );
      const p99 = (results: LoadResult[]): number => median(results.map((result) => result.p99));
      return [absoluteFigure(`search over ${seeded.size.secrets} titles: p99`, "ms", p99(a), 25, p99(b))];
    } finally {
      await client.query("DELETE FROM client_folders WHERE client_id = $1 AND folder_id <> $2", [
        machine.clientId,
        seeded.folderIds[machine.folder],
      ]);
      await client.end();
    }
  },
};
