import { randomUUID } from "node:crypto";
import type { Request } from "../load.ts";
import type { Figure } from "../row.ts";
import type { VaultBench, VaultRow } from "../vault-row.ts";
import { writeFigures } from "../write-figures.ts";

const ciphertext = "QUJD".repeat(342);
const body = JSON.stringify({ type: "login", encrypted_data: ciphertext });

/** Creating and updating records, beside a bare transaction of `pg` that writes the same rows. */
export const recordWrite: VaultRow = {
  name: "record-write",
  async run(bench: VaultBench): Promise<Figure[]> {
    const { people, vaultIds, recordId, size } = bench.seeded;
    const vaultOf = (n: number): string => vaultIds[n % vaultIds.length] ?? vaultIds[0];
    const write = (method: Request["method"], n: number, path: string): Request => {
      const { token } = people[n % people.length] ?? people[0];
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return { method, path: `/api/vaults/${vaultOf(n)}/records${path}`, headers, body };
    };
    const creations = Array.from({ length: 1_000 }, (_, n) => write("POST", n, ""));
    const updates = Array.from({ length: 20_000 }, (_, k) => {
      const n = (k * 31) % size.records;
      return write("PUT", n, `/${recordId(n)}`);
    });
    return [
      ...(await writeFigures(bench, {
        name: "record create",
        requests: creations,
        expect: 201,
        schema: "vaults",
        statement: (n) => ({
          name: "bare-create",
          text: `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
                 VALUES ($1, $2, 'login', $3, now(), now())`,
          values: [vaultOf(n), randomUUID(), ciphertext],
        }),
      })),
      ...(await writeFigures(bench, {
        name: "record update",
        requests: updates,
        expect: 200,
        schema: "vaults",
        statement: (n) => ({
          name: "bare-update",
          text: `UPDATE records SET encrypted_data = $3, x = pg_current_xact_id(), updated_at = now()
                 WHERE vault_id = $1 AND id = $2`,
          values: [vaultOf((n * 31) % size.records), recordId((n * 31) % size.records), ciphertext],
        }),
      })),
    ];
  },
};
