import { Pool } from "undici";
import type { LoadPlan, LoadResult } from "./load.ts";

// The child process of load.ts: receives a plan, sends its result.
process.on("message", (plan) => {
  void run(plan as LoadPlan).then((result) => process.send?.(result));
});

async function run(plan: LoadPlan): Promise<LoadResult> {
  const urls = [plan.url].flat();
  const pools = urls.map((url) => new Pool(url, { connections: plan.connections / urls.length, pipelining: 1 }));
  const latencies: number[] = [];
  let unexpected = 0;
  let sent = 0;
  const started = performance.now();
  const end = started + plan.seconds * 1000;

  const share = Math.ceil(plan.requests.length / plan.connections);
  const connection = async (pool: Pool, offset: number): Promise<void> => {
    const last = plan.once === true ? offset + share : Number.POSITIVE_INFINITY;
    for (let at = offset; at < last && performance.now() < end; at += 1) {
      const request = plan.requests[at % plan.requests.length];
      if (request === undefined) return;
      const headers: Record<string, string> = { ...request.headers };
      if (plan.addresses !== undefined) headers["x-forwarded-for"] = address(sent % plan.addresses);
      sent += 1;
      const before = performance.now();
      const { statusCode, body } = await pool.request({
        method: request.method,
        path: request.path,
        headers,
        body: request.body ?? null,
      });
      await body.arrayBuffer();
      latencies.push(performance.now() - before);
      if (statusCode !== plan.expect) unexpected += 1;
    }
  };
  const each = pools.flatMap((pool) => Array.from({ length: plan.connections / pools.length }, () => pool));
  await Promise.all(each.map((pool, index) => connection(pool, index * share)));
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  latencies.sort((a, b) => a - b);
  const percentile = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? 0;
  return { requests: latencies.length, seconds, unexpected, p50: percentile(0.5), p99: percentile(0.99) };
}

/** The n-th address of 10.0.0.0/8. */
function address(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}
