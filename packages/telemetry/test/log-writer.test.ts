import { execFile } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { exposition } from "../src/exposition.ts";
import { createTelemetry } from "../src/index.ts";

const run = promisify(execFile);
const linux = process.platform === "linux" ? false : "there is no /dev/full";

async function lostBy({ metrics }: ReturnType<typeof createTelemetry>): Promise<string | undefined> {
  const text = await exposition(metrics.registry, "prometheus");
  return /^coffer_log_lines_lost_total\{service="vaults"\} (\d+)$/m.exec(text)?.[1];
}

await t.test("a line is in the file when the call returns", async (t) => {
  const path = join(testDirectory(t), "log");
  const descriptor = openSync(path, "a");
  t.teardown(() => closeSync(descriptor));
  const telemetry = createTelemetry({ service: "vaults", destination: descriptor });
  telemetry.log.info({ name: "ä".repeat(70_000) }, "long");
  telemetry.log.info("short");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  t.match(
    lines.map((line) => JSON.parse(line) as object),
    [{ msg: "long", name: "ä".repeat(70_000) }, { msg: "short" }],
  );
  t.equal(await lostBy(telemetry), "0", "so that Prometheus sees the first increase");
});

await t.test("on a full disk lines are dropped and counted, and nothing else happens", { skip: linux }, async (t) => {
  const descriptor = openSync("/dev/full", "a");
  t.teardown(() => closeSync(descriptor));
  const telemetry = createTelemetry({ service: "vaults", destination: descriptor });
  for (let i = 0; i < 3; i++) telemetry.log.error(new Error("lost"));
  t.equal(await lostBy(telemetry), "3");
});

await t.test("a process whose standard output is full ends as it should", { skip: linux }, async (t) => {
  const source = new URL("../src/index.ts", import.meta.url).href;
  const program = `
    import { createTelemetry } from ${JSON.stringify(source)};
    const { log } = createTelemetry({ service: "vaults" });
    log.info("lost"); setTimeout(() => log.info("lost at the end"), 10);`;
  const command = `exec "$0" --input-type=module --eval "$1" > /dev/full`;
  await t.resolves(run("sh", ["-c", command, process.execPath, program], { timeout: 20_000 }));
});

await t.test("a reader that reads nothing delays one caller, and briefly", { skip: linux }, async (t) => {
  const path = join(testDirectory(t), "pipe");
  await run("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  t.teardown(() => [reader, writer].forEach((descriptor) => closeSync(descriptor)));
  const telemetry = createTelemetry({ service: "vaults", destination: writer });
  const started = performance.now();
  for (let i = 0; i < 2_000; i++) telemetry.log.info({ filler: "x".repeat(200) }, "more than a pipe takes");
  const lost = Number(await lostBy(telemetry));
  t.ok(lost > 1_000, `${lost} of 2000 lost`);
  t.ok(performance.now() - started < 10_000, "not 50 ms for each");

  // Later the reader finds whole lines, except the one that was cut when the pipe was full.
  const bytes = Buffer.alloc(1024 * 1024);
  let text = bytes.toString("utf8", 0, readSync(reader, bytes));
  telemetry.log.info("there again");
  text += bytes.toString("utf8", 0, readSync(reader, bytes));
  const lines = text.trimEnd().split("\n");
  t.match(JSON.parse(lines.pop() ?? ""), { msg: "there again" });
  lines.pop();
  for (const line of lines) t.match(JSON.parse(line), { msg: "more than a pipe takes" });
});
