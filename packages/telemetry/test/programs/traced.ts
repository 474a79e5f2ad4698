// Records a few spans and prints what a test checks, line by line.
import { createTelemetry, extractTrace, injectTrace, span, startManagement, startTracing } from "../../src/index.ts";

const tracing = await startTracing("vaults", process.env);
const second = await startTracing("sync", process.env);
const telemetry = createTelemetry({ service: "vaults" });
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
await span(
  "outer",
  { "http.route": "/api/vaults/:id", "url.query": "token=c4n4ry1", token: "c4n4ry2", note: "Bearer c4n4ry3333" },
  "server",
  async (outer) => {
    telemetry.metrics.histogram("test_seconds", "h", [1]).observe(0.5);
    telemetry.log.info("inside");
    span("inner", {}, "client", () => print({ carrier: injectTrace({}) }));
    await Promise.resolve();
    outer.setAttribute("http.response.status_code", 200);
  },
  extractTrace({ traceparent: parent }),
);

await span("fault", {}, "internal", () =>
  Promise.reject(Object.assign(new Error("c4n4ry4"), { code: "unavailable", status: 503 })),
).catch(() => undefined);
try {
  span("refusal", {}, "internal", () => {
    throw Object.assign(new Error("c4n4ry5"), { code: "access_denied", status: 403 });
  });
} catch {
  // The span is about the error.
}

const management = await startManagement({
  host: "127.0.0.1",
  port: 0,
  telemetry,
  readiness: () => Promise.resolve({ ready: true, checks: {} }),
});
const accept = "application/openmetrics-text";
const scraped = await (await fetch(`${management.url}/metrics`, { headers: { accept } })).text();
print({ exemplar: scraped.split("\n").find((line) => line.startsWith('test_seconds_bucket{le="1"')) });
await management.close();
await second.close();
await tracing.close();
span("after", {}, "internal", () => undefined);
