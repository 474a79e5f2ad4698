import pg from "pg";
import { startExpress } from "../express-baseline.ts";
import type { Request } from "../load.ts";
import { interleaved, measure, type Measured, median } from "../measure.ts";
import { absoluteFigure, type Bench, type Figure, ratioFigure, type Row } from "../row.ts";
import { secretsPerFolder, type Seeded } from "../seed.ts";

/** Source addresses of the load: enough that none reaches its limit of 60 a minute. */
export const addresses = 1 << 16;

/** GET of single secrets, spread over all machines and all of their secrets. */
export function secretReads(
  seeded: Seeded,
  path: (uid: string) => string = (uid) => `/api/sm/v1/secrets/${uid}`,
): Request[] {
  return Array.from({ length: 20_000 }, (_, n) => {
    const machine = seeded.machines[(n * 7) % seeded.machines.length];
    if (machine === undefined) throw new Error("there are no machines to read with");
    const uid = seeded.uid(machine.folder * secretsPerFolder + ((n * 31) % secretsPerFolder));
    return { method: "GET", path: path(uid), headers: { authorization: `Bearer ${machine.token}` } };
  });
}

/** CPU and latency of reading one secret, beside a bare Express route with the same bytes. */
export const secretRead: Row = {
  name: "secret-read",
  async run({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
    const requests = secretReads(seeded);
    const [first] = requests;
    if (first === undefined) throw new Error("no request to measure");
    const answer = await fetch(`${coffer.url}${first.path}`, { headers: first.headers ?? {} });
    const express = await startExpress(await answer.text());
    const groups = { service: coffer.pids.service, all: coffer.pids.all };
    const load = { connections: 32, seconds, addresses, expect: 200 };
    try {
      const { a, b } = await interleaved(
        rounds,
        () => measure(loader, { ...load, url: coffer.url, requests }, groups, coffer.drained),
        () =>
          measure(
            loader,
            { ...load, url: express.url, requests: [{ method: "GET", path: "/" }] },
            { all: [express.pid] },
          ),
      );
      const cpu = (group: string): number => median(a.map(({ cpuMicroseconds }) => cpuMicroseconds[group] ?? 0));
      const p99 = (runs: Measured[]): number => median(runs.map((run) => run.p99));
      const bare = median(b.map(({ cpuMicroseconds }) => cpuMicroseconds["all"] ?? 0));
      return [
        ratioFigure("secret read: CPU of the service", "µs", cpu("service"), bare, { atMost: 4 }),
        ratioFigure("secret read: CPU of all processes", "µs", cpu("all"), bare, { atMost: 10 }),
        absoluteFigure("secret read: p99 at 32 connections", "ms", p99(a), 15, p99(b)),
        ...(await oneAtATime({ coffer, seeded, loader, seconds, rounds })),
      ];
    } finally {
      express.close();
    }
  },
};

/** Latency of single reads, beside one read and one committed insert of one row from one process. */
async function oneAtATime({ coffer, seeded, loader, seconds, rounds }: Bench): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: coffer.postgresUrl, options: "-c search_path=auth_sm,public" });
  await client.connect();
  try {
    await client.query("CREATE TABLE IF NOT EXISTS bench_insert (id bigserial PRIMARY KEY, payload text NOT NULL)");
    const { a, b } = await interleaved(
      rounds,
      () =>
        loader.run({ url: coffer.url, connections: 1, seconds, addresses, expect: 200, requests: secretReads(seeded) }),
      () => bareReadAndInsert(client, seeded, seconds),
    );
    const value = median(a.map(({ p50 }) => p50));
    return [ratioFigure("secret read: p50 one at a time", "ms", value, median(b), { atMost: 2.5 })];
  } finally {
    await client.query("DROP TABLE IF EXISTS bench_insert");
    await client.end();
  }
}

async function bareReadAndInsert(client: pg.Client, seeded: Seeded, seconds: number): Promise<number> {
  const latencies: number[] = [];
  const payload = "x".repeat(600);
  const end = performance.now() + seconds * 1000;
  for (let n = 0; performance.now() < end; n += 1) {
    const before = performance.now();
    const uid = seeded.uid((n * 31) % seeded.size.secrets);
    await client.query({
      name: "bare-read",
      text: "SELECT * FROM secrets WHERE org_id = $1 AND uid = $2",
      values: [seeded.orgId, uid],
    });
    await client.query({
      name: "bare-insert",
      text: "INSERT INTO bench_insert (payload) VALUES ($1)",
      values: [payload],
    });
    latencies.push(performance.now() - before);
  }
  return median(latencies);
}
