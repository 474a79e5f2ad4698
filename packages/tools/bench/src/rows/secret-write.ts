import { randomBytes } from "node:crypto";
import type { QueryConfig } from "pg";
import type { Request } from "../load.ts";
import type { Bench, Figure, Row } from "../row.ts";
import type { Seeded } from "../seed.ts";
import { writeFigures } from "../write-figures.ts";
import { secretReads } from "./secret-read.ts";

const payload = "QUJD".repeat(342);

/** Creating and updating secrets, beside a bare transaction of `pg` that writes the same rows. */
export const secretWrite: Row = {
  name: "secret-write",
  async run(bench: Bench): Promise<Figure[]> {
    const { seeded } = bench;
    const body = {
      encrypted_payload: payload,
      wrapped_dek: "QUJD".repeat(24),
      fields: { password: "QUJD".repeat(20) },
    };
    const updates = secretReads(seeded).map(({ path, headers }): Request => ({
      method: "PUT",
      path,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    }));
    const creations = seeded.machines.map(({ folder, token }): Request => ({
      method: "POST",
      path: "/api/sm/v1/secrets",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ...body, folder_id: seeded.folderIds[folder], record_type: "api_credential" }),
    }));
    return [
      ...(await writeFigures(bench, {
        name: "secret create",
        requests: creations,
        expect: 201,
        schema: "auth_sm",
        statement: (n) => createStatement(seeded, n),
      })),
      ...(await writeFigures(bench, {
        name: "secret update",
        requests: updates,
        expect: 200,
        schema: "auth_sm",
        statement: (n) => updateStatement(seeded, n),
      })),
    ];
  },
};

type Statement = (seeded: Seeded, n: number) => QueryConfig;

const createStatement: Statement = (seeded, n) => ({
  name: "bare-create",
  text: `INSERT INTO secrets (org_id, uid, folder_id, record_type, title_encrypted, encrypted_payload, wrapped_dek,
           fields, field_names, key_version, version, created_at, updated_at)
         VALUES ($1, $2, $3, 'api_credential', '', $4, $5, $6, '{password}', 1, 1, now(), now())`,
  values: [
    seeded.orgId,
    `w${randomBytes(16).toString("base64url").slice(1)}`,
    seeded.folderIds[n % seeded.folderIds.length],
    payload,
    "QUJD".repeat(24),
    JSON.stringify({ password: "QUJD".repeat(20) }),
  ],
});

const updateStatement: Statement = (seeded, n) => ({
  name: "bare-update",
  text: `UPDATE secrets SET encrypted_payload = $3, wrapped_dek = $4, fields = $5, version = version + 1, updated_at = now()
         WHERE org_id = $1 AND uid = $2`,
  values: [
    seeded.orgId,
    seeded.uid((n * 31) % seeded.size.secrets),
    payload,
    "QUJD".repeat(24),
    JSON.stringify({ password: "QUJD".repeat(20) }),
  ],
});
