import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testRedis } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";

const program = fileURLToPath(new URL("programs/traced.ts", import.meta.url));
const traceId = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const canary = "canary0123456789";

const attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const span = z.object({
  name: z.string(),
  kind: z.number(),
  traceId: z.string(),
  parentSpanId: z.string().optional(),
  attributes: z.array(attribute),
  status: z.object({ code: z.number().optional() }),
});
const exported = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

/** Receives an exporter's requests. */
async function receiver(t: { teardown(work: () => unknown): unknown }): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }; // it listens on a TCP port
}

await t.test("each request is a server span in the trace of its caller, without what the caller sent", async (t) => {
  const redis = await testRedis(t);
  const { url, bodies } = await receiver(t);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, redis.url, `00-${traceId}-${parent}-01`, canary],
    {
      env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
    },
  );
  const spans = bodies
    .flatMap((body) => exported.parse(JSON.parse(body)).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    .map(({ attributes, ...rest }) => ({
      ...rest,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }));
  const server = { kind: 2, traceId, parentSpanId: parent };
  const about = (route: string, status: number) => ({
    "http.request.method": "GET",
    "http.route": route,
    "http.response.status_code": status,
  });
  t.match(spans, [
    { ...server, name: "GET /api/works/{id}", attributes: about("/api/works/{id}", 200), status: { code: 0 } },
    { ...server, name: "GET unmatched", attributes: about("unmatched", 404), status: { code: 0 } },
    { ...server, name: "GET /api/fails", attributes: about("/api/fails", 500), status: { code: 2 } },
  ]);
  t.notMatch(JSON.stringify(spans), canary);
  const logged = stdout.split("\n").find((line) => line.includes("operating")) ?? "{}";
  t.match(JSON.parse(logged), { trace_id: traceId }, "a log line during the request belongs to its trace");
});
