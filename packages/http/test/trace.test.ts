import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testRedis } from "@coffer/testkit";
import { startSpanReceiver } from "@coffer/testkit/traces";
import t from "tap";

const program = fileURLToPath(new URL("programs/traced.ts", import.meta.url));
const traceId = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const canary = "canary0123456789";

await t.test("each request is a server span in the trace of its caller, without what the caller sent", async (t) => {
  const redis = await testRedis(t);
  const receiver = await startSpanReceiver(t);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, redis.url, `00-${traceId}-${parent}-01`, canary],
    {
      env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
    },
  );
  const server = { kind: 2, traceId, parentSpanId: parent };
  const about = (route: string, status: number) => ({
    "http.request.method": "GET",
    "http.route": route,
    "http.response.status_code": status,
  });
  t.match(receiver.spans(), [
    { ...server, name: "GET /api/works/{id}", attributes: about("/api/works/{id}", 200), status: { code: 0 } },
    { ...server, name: "GET unmatched", attributes: about("unmatched", 404), status: { code: 0 } },
    { ...server, name: "GET /api/fails", attributes: about("/api/fails", 500), status: { code: 2 } },
  ]);
  const told = receiver.spans().map(({ name, attributes }) => [name, attributes]);
  t.notMatch(JSON.stringify(told), canary, "the program's own arguments are in the resource");
  const logged = stdout.split("\n").find((line) => line.includes("operating")) ?? "{}";
  t.match(JSON.parse(logged), { trace_id: traceId }, "a log line during the request belongs to its trace");
});
