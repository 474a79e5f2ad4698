import t from "tap";
import { createTelemetry, type Metrics, Registry, version } from "../src/index.ts";
import { exposition, type ExpositionFormat } from "../src/exposition.ts";

const metricsOf = (service: string, registry?: Registry): Metrics => createTelemetry({ service, registry }).metrics;

async function linesOf(metrics: Metrics, beginning: string, format: ExpositionFormat = "prometheus") {
  const lines = (await exposition(metrics.registry, format)).split("\n");
  return lines.filter((line) => line.startsWith(beginning) || line.startsWith(`# TYPE ${beginning}`));
}

void t.test("every metric has the label service", async (t) => {
  const metrics = metricsOf("vaults");
  metrics.counter("test_plain_total", "h").inc();
  metrics.counter("test_labelled_total", "h", ["reason"]).inc({ reason: "expired" }, 2);
  metrics.gauge("test_gauge", "h", ["kind"]).set(4, { kind: "a" });
  metrics.histogram("test_seconds", "h", [1], ["kind"]).observe(0.5, { kind: "a" });
  t.same(await linesOf(metrics, "test_plain"), [
    "# TYPE test_plain_total counter",
    'test_plain_total{service="vaults"} 1',
  ]);
  t.same(await linesOf(metrics, "test_labelled"), [
    "# TYPE test_labelled_total counter",
    'test_labelled_total{service="vaults",reason="expired"} 2',
  ]);
  t.same(await linesOf(metrics, "test_gauge"), ["# TYPE test_gauge gauge", 'test_gauge{service="vaults",kind="a"} 4']);
  t.same(await linesOf(metrics, "test_seconds"), [
    "# TYPE test_seconds histogram",
    'test_seconds_bucket{le="1",service="vaults",kind="a"} 1',
    'test_seconds_bucket{le="+Inf",service="vaults",kind="a"} 1',
    'test_seconds_sum{service="vaults",kind="a"} 0.5',
    'test_seconds_count{service="vaults",kind="a"} 1',
  ]);
});

void t.test("a counter without labels begins at 0, and keeps its value when it is found again", async (t) => {
  const registry = new Registry();
  const metrics = metricsOf("vaults", registry);
  metrics.counter("test_total", "h");
  t.same(await linesOf(metrics, "test_total{"), ['test_total{service="vaults"} 0']);
  metrics.counter("test_total", "h").inc();
  metrics.counter("test_total", "h");
  t.same(await linesOf(metrics, "test_total{"), ['test_total{service="vaults"} 1']);
});

void t.test("services of one process share a registry and a name, each with its own series", async (t) => {
  const registry = new Registry();
  const [vaults, sync] = [metricsOf("vaults", registry), metricsOf("sync", registry)];
  vaults.counter("test_total", "h").inc();
  sync.counter("test_total", "h").inc(undefined, 5);
  t.same(await linesOf(vaults, "test_total"), [
    "# TYPE test_total counter",
    'test_total{service="vaults"} 1',
    'test_total{service="sync"} 5',
  ]);
});

void t.test("a name has one type, one set of labels and buckets", (t) => {
  const metrics = metricsOf("vaults");
  metrics.histogram("test_seconds", "h", [1, 2], ["a"]);
  t.doesNotThrow(() => metrics.histogram("test_seconds", "h", [1, 2], ["a"]));
  t.throws(() => metrics.histogram("test_seconds", "h", [1, 3], ["a"]), TypeError);
  t.throws(() => metrics.histogram("test_seconds", "h", [1, 2], ["b"]), TypeError);
  t.throws(() => metrics.counter("test_seconds", "h", ["a"]), TypeError);
  t.end();
});

void t.test("a value on the bound of a bucket belongs to it", async (t) => {
  const metrics = metricsOf("vaults");
  const seconds = metrics.histogram("test_seconds", "h", [0.1, 0.5]);
  for (const value of [0.1, 0.1000001, 0.5, 0.5000001]) seconds.observe(value);
  t.match(await linesOf(metrics, "test_seconds_bucket"), [/le="0.1".* 1$/, /le="0.5".* 3$/, /le="\+Inf".* 4$/]);
});

void t.test("a gauge goes up and down, and can be read at each scrape", async (t) => {
  const registry = new Registry();
  const [vaults, sync] = [metricsOf("vaults", registry), metricsOf("sync", registry)];
  const connections = vaults.gauge("test_connections", "h");
  connections.add(3);
  connections.add(-1);
  t.match(await linesOf(vaults, "test_connections{"), ['test_connections{service="vaults"} 2']);

  let reads = 0;
  vaults.gauge("test_read", "h").collect(() => (reads += 1));
  const set = sync.gauge("test_read", "h");
  set.collect(async () => {
    await Promise.resolve();
    set.set(70);
  });
  const both = async (): Promise<string[]> => (await linesOf(vaults, "test_read{")).sort();
  t.same(await both(), ['test_read{service="sync"} 70', 'test_read{service="vaults"} 1']);
  t.same(await both(), ['test_read{service="sync"} 70', 'test_read{service="vaults"} 2']);
});

void t.test("a gauge whose reading fails or hangs does not change and does not break a scrape", async (t) => {
  const metrics = metricsOf("vaults");
  const failing = metrics.gauge("test_failing", "h");
  failing.set(1);
  failing.collect(() => Promise.reject(new Error("away")));
  failing.collect(() => {
    throw new Error("away");
  });
  const hanging = metrics.gauge("test_hanging", "h");
  hanging.set(2);
  hanging.collect(() => new Promise(() => undefined));
  const start = performance.now();
  t.match(await linesOf(metrics, "test_"), [/TYPE/, /test_failing.* 1$/, /TYPE/, /test_hanging.* 2$/]);
  t.ok(performance.now() - start < 8_000, "bounded by a second");
});

void t.test("the process is measured once per registry, and each service reports its release", async (t) => {
  const registry = new Registry();
  const [vaults] = [metricsOf("vaults", registry), metricsOf("sync", registry)];
  t.same(await linesOf(vaults, "coffer_build_info{"), [
    `coffer_build_info{service="vaults",version="${version}",node_version="${process.version}"} 1`,
    `coffer_build_info{service="sync",version="${version}",node_version="${process.version}"} 1`,
  ]);
  for (const name of ["process_resident_memory_bytes", "nodejs_heap_size_used_bytes", "process_cpu_seconds_total"])
    t.match(await linesOf(vaults, `${name}{`), [/\{service="vaults"\} \d+/]);
});

void t.test("a blocked event loop shows in the lag", async (t) => {
  const metrics = metricsOf("vaults");
  const lagOf = async (): Promise<number> =>
    Number((await linesOf(metrics, "nodejs_eventloop_lag_max_seconds{"))[0]?.split(" ")[1]);
  const ticks = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await new Promise((resolve) => setTimeout(resolve, 11));
  };
  await lagOf();
  await ticks(3);
  const end = performance.now() + 200;
  while (performance.now() < end);
  await ticks(3);
  const lag = await lagOf();
  t.ok(lag > 0.1 && lag < 5, `${lag} s`);
});

void t.test("both formats have the same samples, and a scrape of one does not change the other", async (t) => {
  const metrics = metricsOf("vaults");
  metrics.counter("test_total", 'a "quoted" \\ help\nof two lines', ["reason"]).inc({ reason: 'say "hi"\\\n' });
  const before = await exposition(metrics.registry, "prometheus");
  const open = await exposition(metrics.registry, "openmetrics");
  const after = await exposition(metrics.registry, "prometheus");
  const stable = (text: string) => text.split("\n").filter((line) => line.includes("test"));
  t.same(stable(after), stable(before));
  t.same(stable(before), [
    '# HELP test_total a "quoted" \\\\ help\\nof two lines',
    "# TYPE test_total counter",
    'test_total{service="vaults",reason="say \\"hi\\"\\\\\\n"} 1',
  ]);
  t.same(stable(open), [
    '# HELP test a \\"quoted\\" \\\\ help\\nof two lines',
    "# TYPE test counter",
    'test_total{service="vaults",reason="say \\"hi\\"\\\\\\n"} 1',
  ]);
  t.ok(open.endsWith("\n# EOF\n"));
  t.notMatch(before, "# EOF");
});

void t.test("every line of either format is well formed, and families are contiguous", async (t) => {
  const metrics = metricsOf("vaults");
  metrics.histogram("test_seconds", "h", [0.1]).observe(7);
  metrics.gauge("test_gauge", "h").set(Infinity);
  const sample =
    /^[a-z_0-9]+(\{[a-z_]+="(?:[^"\\]|\\.)*"(,[a-z_]+="(?:[^"\\]|\\.)*")*\})? (\+Inf|-Inf|NaN|-?[\d.e+-]+)$/;
  for (const format of ["prometheus", "openmetrics"] as const) {
    const lines = (await exposition(metrics.registry, format)).trimEnd().split("\n");
    const families = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2]);
    t.equal(new Set(families).size, families.length);
    for (const line of lines) if (!line.startsWith("#")) t.match(line, sample);
  }
});
