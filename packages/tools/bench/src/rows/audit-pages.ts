import { randomUUID } from "node:crypto";
import { signingKeys, membershipOf } from "@coffer/events";
import { newId } from "@coffer/service";
import { signUserToken } from "@coffer/tokens";
import pg from "pg";
import { audience } from "../coffer.ts";
import { absoluteFigure, type BenchOf, type Figure, type RowOf } from "../row.ts";
import type { SeededAudit } from "../seed-audit.ts";

/** The chain has this many times the records of the suite. */
const times = 10;
const atMostMilliseconds = 50;
const timesEach = 15;

/** Pages of 100 records anywhere in a long chain, with each filter: the slowest by its median. */
export const auditPages: RowOf<SeededAudit> = {
  name: "audit-pages",
  async run({ coffer, seeded }: BenchOf<SeededAudit>): Promise<Figure[]> {
    const count = seeded.size.records * times;
    const orgId = randomUUID();
    const [busy, rare] = [randomUUID(), randomUUID()];
    await fillChain(coffer.postgresUrl, { orgId, count, busy, rare });
    const { bus } = seeded;
    const { signingKey } = coffer;
    bus.reply(signingKeys, () => ({ keys: [{ ...signingKey.publicJwk, kid: signingKey.kid }] }));
    const membership = { org_id: orgId, role: "owner", status: "active", plan: "enterprise" } as const;
    bus.reply(membershipOf, () => ({ session_active: true, has_organization: true, membership }));
    const token = await signUserToken(
      signingKey,
      { sub: newId(), sid: newId() },
      { issuer: audience, lifetimeSeconds: 900, now: () => new Date(), newId },
    );
    let address = 0;
    const page = async (query: string): Promise<number> => {
      const began = performance.now();
      const answer = await fetch(`${coffer.url}/api/org/audit?${query}`, {
        headers: { authorization: `Bearer ${token}`, "x-forwarded-for": `10.0.0.${(address += 1) % 250}` },
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${query} was answered ${answer.status}: ${text}`);
      return performance.now() - began;
    };
    const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString();
    const queries = [
      ["the first", ""],
      ["the last", "order=desc"],
      ["in the middle", `after=${Math.floor(count / 2)}`],
      ["near the end", `after=${count - 150}`],
      ["a frequent action", "action=secret.read&order=desc"],
      ["a rare action", "action=vault.deleted"],
      ["an action that never was", "action=org.member.removed"],
      ["denials", "outcome=denied"],
      ["a busy actor", `actor_id=${busy}&order=desc`],
      ["a rare actor", `actor_id=${rare}`],
      ["an unknown actor", `actor_id=${randomUUID()}`],
      ["what a busy actor never did", `actor_id=${busy}&action=secret.updated`],
      ["denials of a frequent action by a busy actor", `actor_id=${busy}&action=secret.read&outcome=denied`],
      ["a day", `from=${day(180)}&to=${day(179)}`],
      ["a rare action in a month", `action=vault.deleted&from=${day(200)}&to=${day(170)}`],
      [
        "what a busy actor never did in a month",
        `actor_id=${busy}&action=secret.updated&from=${day(200)}&to=${day(170)}`,
      ],
    ] as const;
    // Warms up the service: compiled code, known keys.
    for (let time = 0; time < timesEach * 3; time += 1) await page(queries[time % queries.length]?.[1] ?? "");
    let slowest = { name: "", milliseconds: 0 };
    for (const [name, query] of queries) {
      const took: number[] = [];
      for (let time = 0; time < timesEach; time += 1) took.push(await page(query));
      const milliseconds = took.sort((a, b) => a - b)[Math.floor(timesEach / 2)] ?? 0;
      if (milliseconds > slowest.milliseconds) slowest = { name, milliseconds };
    }
    const name = `audit: slowest page of ${count.toLocaleString("en")} records (${slowest.name})`;
    return [absoluteFigure(name, "ms", slowest.milliseconds, atMostMilliseconds)];
  },
};

/** Fills a chain with a year of records, most of them reads by one actor. Lists need no hashes. */
async function fillChain(
  url: string,
  { orgId, count, busy, rare }: { orgId: string; count: number; busy: string; rare: string },
): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=siem_forwarder" });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO audit_records (chain_id, seq, id, time, action, outcome, actor_id, record)
       SELECT $1::uuid, seq, id, time, action, outcome, actor, json_build_object(
         'schema', 'coffer.audit/1', 'id', id, 'time', time, 'org_id', $1::text, 'action', action, 'outcome', outcome,
         'actor', json_build_object('type', 'client', 'id', actor),
         'target', json_build_object('type', 'secret', 'id', 'AAAAAAAAAAAAAAAAAAAAAA'),
         'source', json_build_object('ip', '203.0.113.7', 'user_agent', 'coffer-sdk/0.1.0'),
         'request', json_build_object('id', id, 'method', 'GET', 'route', '/api/sm/v1/secrets/{uid}', 'status', 200),
         'seq', seq, 'prev_hash', repeat('0', 64), 'hash', repeat('0', 64))
       FROM (
         SELECT n AS seq, gen_random_uuid() AS id,
           now() - interval '365 days' * (($2::int - n)::float8 / $2::int) AS time,
           CASE WHEN n % 10000 = 0 THEN 'vault.deleted' WHEN n % 10 < 3 THEN 'secret.updated' ELSE 'secret.read' END AS action,
           CASE WHEN n % 100 = 7 THEN 'denied' ELSE 'success' END AS outcome,
           CASE WHEN n % 10 >= 5 THEN $3 WHEN n % 50000 = 1 THEN $4 ELSE 'client-' || n % 1000 END AS actor
         FROM generate_series(1, $2::int) AS n
       ) AS made`,
      [orgId, count, busy, rare],
    );
    await client.query(
      `INSERT INTO audit_hours (chain_id, hour, first_seq, last_seq)
       SELECT chain_id, date_trunc('hour', time), min(seq), max(seq) FROM audit_records WHERE chain_id = $1 GROUP BY 1, 2`,
      [orgId],
    );
    await client.query("INSERT INTO audit_chains (id, seq, hash) VALUES ($1, $2, repeat('0', 64))", [orgId, count]);
    await client.query("VACUUM ANALYZE audit_records");
  } finally {
    await client.end();
  }
}
