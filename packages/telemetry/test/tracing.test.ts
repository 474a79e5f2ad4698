import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startSpanReceiver } from "@coffer/testkit/traces";
import t from "tap";
import { version } from "../src/index.ts";

const program = (name: string): string => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));

async function run(name: string, env: Record<string, string>) {
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith("OTEL_"));
  const child = spawn(process.execPath, [program(name)], { env: { ...Object.fromEntries(inherited), ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise((resolve) => child.once("close", resolve));
  return { status, stdout, stderr };
}

/** Finds a program's lines: its log and its output share a stream, in any order. */
function printedIn(stdout: string): (field: string) => unknown {
  const lines = stdout.split("\n").filter((line) => line !== "");
  return (field) => lines.map((line) => JSON.parse(line) as object).find((line) => field in line);
}

void t.test("spans reach an OTLP receiver as JSON, with resource, parents, kinds and outcomes", async (t) => {
  const receiver = await startSpanReceiver(t);
  const { status, stdout, stderr } = await run("traced", {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  t.equal(status, 0, stderr);
  t.equal(stderr, "");
  const spans = receiver.spans();
  t.match(spans[0]?.resource, {
    "service.name": "vaults",
    "service.namespace": "coffer",
    "service.version": version,
  });
  const named = (name: string) => {
    const found = spans.find((span) => span.name === name);
    if (found === undefined) throw new Error(`no span ${name}`);
    return found;
  };
  t.same(spans.map(({ name }) => name).sort(), ["fault", "inner", "outer", "refusal"], "none after closing");

  const [outer, inner] = [named("outer"), named("inner")];
  t.equal(outer.traceId, "0af7651916cd43dd8448eb211c80319c", "the trace of the caller goes on");
  t.equal(outer.parentSpanId, "b7ad6b7169203331");
  t.equal(inner.parentSpanId, outer.spanId);
  t.same([outer.kind, inner.kind, named("fault").kind], [2, 3, 1]);
  t.same(outer.attributes, {
    "http.route": "/api/vaults/:id",
    "url.query": "[redacted]",
    token: "[redacted]",
    note: "Bearer [redacted]",
    "http.response.status_code": 200,
  });
  t.match([named("fault").status, named("fault").attributes], [{ code: 2 }, { "error.type": "unavailable" }]);
  t.notMatch(named("refusal").status, { code: 2 }, "a refusal is not a failure of the service");
  t.match(named("refusal").attributes, { "error.type": "access_denied" });

  t.notMatch(receiver.text(), "c4n4ry");

  const printed = printedIn(stdout);
  t.match(printed("msg"), { msg: "inside", trace_id: outer.traceId, span_id: outer.spanId });
  t.match(printed("carrier"), { carrier: { traceparent: `00-${outer.traceId}-${inner.spanId}-01` } });
  t.match(stdout, `# {trace_id=\\"${outer.traceId}\\",span_id=\\"${outer.spanId}\\"} 0.5 `, "an exemplar");
});

void t.test("by default spans are sent as protobuf, under the operator's name", async (t) => {
  const receiver = await startSpanReceiver(t);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "my-vaults" };
  const { status, stderr } = await run("traced", env);
  t.equal(status, 0, stderr);
  t.equal(receiver.received[0]?.headers["content-type"], "application/x-protobuf");
  const spans = receiver.spans();
  t.same(spans.map(({ name }) => name).sort(), ["fault", "inner", "outer", "refusal"]);
  t.match(spans[0]?.resource, { "service.name": "my-vaults" });
  t.notMatch(receiver.text(), "c4n4ry");
});

void t.test("every variable of the SDK may be given by file", async (t) => {
  const receiver = await startSpanReceiver(t);
  const files = t.testdir({ endpoint: `${receiver.url}\n`, headers: "api-key=c4n4ry7" });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT_FILE: `${files}/endpoint`,
    OTEL_EXPORTER_OTLP_HEADERS_FILE: `${files}/headers`,
  };
  const { status, stdout, stderr } = await run("traced", env);
  t.equal(status, 0, stderr);
  t.ok(receiver.received.length > 0);
  t.equal(receiver.received[0]?.headers["api-key"], "c4n4ry7");
  t.notMatch(stdout + stderr, "c4n4ry7");

  const twice = await run("traced", { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  t.equal(twice.status, 1);
  t.match(twice.stderr, "OTEL_EXPORTER_OTLP_ENDPOINT is given twice");
});

void t.test("a receiver that is away affects neither the work nor a clean end", async (t) => {
  const start = performance.now();
  const { status, stdout } = await run("traced", {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_EXPORTER_OTLP_TIMEOUT: "500",
  });
  t.equal(status, 0);
  t.match(stdout, /exemplar/);
  t.ok(performance.now() - start < 25_000);
});

void t.test("without an endpoint, or disabled, nothing of the SDK is loaded and no span has an id", async (t) => {
  for (const env of [{}, { OTEL_SDK_DISABLED: "true", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" }]) {
    const { stdout, stderr } = await run("loaded", env);
    t.match(JSON.parse(stdout), { packages: ["@opentelemetry/api"] }, stderr);
    const traced = await run("traced", env);
    t.equal(traced.status, 0);
    const printed = printedIn(traced.stdout);
    t.match(printed("msg"), { msg: "inside" });
    t.notMatch(printed("msg"), { trace_id: /./ });
    t.same(printed("carrier"), { carrier: {} });
    t.match(printed("exemplar"), { exemplar: "test_seconds_bucket" });
    t.notMatch(printed("exemplar"), { exemplar: "#" });
  }
});
