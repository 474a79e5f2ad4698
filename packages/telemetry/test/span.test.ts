import t from "tap";
import { createTelemetry, extractTrace, injectTrace, span } from "../src/index.ts";

void t.test("without tracing a span is a plain call: results, promises and errors pass through", async (t) => {
  t.equal(
    span("s", {}, "server", () => 7),
    7,
  );
  t.equal(await span("s", {}, "server", () => Promise.resolve(8)), 8);
  const error = new Error("boom");
  t.throws(
    () =>
      span("s", {}, "server", () => {
        throw error;
      }),
    error,
  );
  await t.rejects(
    span("s", {}, "server", () => Promise.reject(error)),
    error,
  );
  t.doesNotThrow(() =>
    span("s", {}, "server", (off) => {
      off.setAttribute("a", 1);
      off.end();
    }),
  );
});

void t.test("without tracing headers are neither written nor read", (t) => {
  const carrier = { other: "x" };
  t.equal(injectTrace(carrier), carrier);
  t.same(carrier, { other: "x" });
  t.doesNotThrow(() => extractTrace({ traceparent: "garbage" }));
  t.end();
});

/** CPU time of one call in microseconds, the best of five rounds. */
function microseconds(call: () => unknown): number {
  const calls = 100_000;
  const rounds = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (let index = 0; index < calls; index += 1) call();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  });
  return Math.min(...rounds);
}

void t.test("a span that is off and an observation cost next to nothing on a request of 20 µs", (t) => {
  const labels = { http_request_method: "GET", http_route: "/api/vaults/:id", http_response_status_code: 200 };
  const names = Object.keys(labels) as (keyof typeof labels)[]; // the keys of the literal above
  const seconds = createTelemetry({ service: "vaults" }).metrics.histogram("test_seconds", "h", [0.01, 0.1, 1], names);
  const off = microseconds(() => span("s", { a: 1 }, "server", () => 1));
  const observed = microseconds(() => seconds.observe(0.05, labels));
  t.comment(`span when off ${off.toFixed(3)} µs, observation ${observed.toFixed(3)} µs`);
  t.ok(off < 0.5, `${off} µs`);
  t.ok(observed < 5, `${observed} µs`);
  t.end();
});
