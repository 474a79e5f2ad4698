import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Request } from "../load.ts";
import { interleaved, measure, median } from "../measure.ts";
import type { Measured } from "../measure.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { absoluteFigure, ratioFigure } from "../row.ts";
import { addresses, secretReads } from "./secret-read.ts";

const connections = 8;
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
      ...(await writes(bench, "secret create", creations, 201, createStatement)),
      ...(await writes(bench, "secret update", updates, 200, updateStatement)),
    ];
  },
};

async function writes(
  bench: Bench,
  name: string,
  requests: Request[],
  expect: number,
  statement: Statement,
): Promise<Figure[]> {
  const { coffer, loader, seconds, rounds } = bench;
  const load = { url: coffer.url, connections, seconds, addresses, expect, requests };
  const { a, b } = await interleaved(
    rounds,
    () => measure(loader, load, { all: coffer.pids.all }, coffer.settled),
    () => bareWrites(bench, statement),
  );
  const of = (pick: (result: Measured) => number): number => median(a.map(pick));
  const milliseconds = of(({ cpuMicroseconds }) => (cpuMicroseconds["all"] ?? 0) / 1000);
  return [
    ratioFigure(
      `${name}: rate`,
      "1/s",
      of((result) => result.requests / result.seconds),
      median(b),
      { atLeast: 0.5 },
    ),
    absoluteFigure(`${name}: CPU of all processes`, "ms", milliseconds, 0.7),
    absoluteFigure(
      `${name}: p99`,
      "ms",
      of(({ p99 }) => p99),
      15,
    ),
  ];
}

type Statement = (bench: Bench, n: number) => { name: string; text: string; values: unknown[] };

const createStatement: Statement = ({ seeded }, n) => ({
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

const updateStatement: Statement = ({ seeded }, n) => ({
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

/** The same rows by bare transactions, each with the row of its audit record. Returns transactions per second. */
async function bareWrites(bench: Bench, statement: Statement): Promise<number> {
  const pool = new pg.Pool({
    connectionString: bench.coffer.postgresUrl,
    options: "-c search_path=auth_sm,public",
    max: connections,
  });
  try {
    await pool.query("CREATE TABLE IF NOT EXISTS bench_insert (id bigserial PRIMARY KEY, payload text NOT NULL)");
    let done = 0;
    const started = performance.now();
    const end = started + bench.seconds * 1000;
    const writer = async (): Promise<void> => {
      const client = await pool.connect();
      while (performance.now() < end) {
        await client.query("BEGIN");
        await client.query(statement(bench, done));
        await client.query({
          name: "audit",
          text: "INSERT INTO bench_insert (payload) VALUES ($1)",
          values: ["x".repeat(600)],
        });
        await client.query("COMMIT");
        done += 1;
      }
      client.release();
    };
    await Promise.all(Array.from({ length: connections }, writer));
    return done / ((performance.now() - started) / 1000);
  } finally {
    await pool.query("DROP TABLE IF EXISTS bench_insert");
    await pool.end();
  }
}
