import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory, until } from "@coffer/testkit";
import {
  runServiceProcess,
  type ServiceProcess,
  type ServiceProcessOptions,
} from "../../src/services/service-process.ts";

const hangs = `process.once("disconnect", () => process.exit(0)); setInterval(() => {}, 1000);`;
const says = `process.send({ type: "ready", url: "http://127.0.0.1:1", management_url: "http://127.0.0.1:2" });`;
const serves = `${says} process.once("SIGTERM", () => process.exit(0)); ${hangs}`;

interface Given {
  directory: string;
  lines: string[];
  options: ServiceProcessOptions;
}

/**
 * A service whose program is the text in the file `program.js`, run by the link `node`, both in a
 * directory.
 */
function given(t: Tap, program: string, more: Partial<ServiceProcessOptions> = {}): Given {
  const directory = testDirectory(t);
  const lines: string[] = [];
  symlinkSync(process.execPath, join(directory, "node"));
  writeFileSync(join(directory, "program.js"), program);
  const options: ServiceProcessOptions = {
    name: "scanner",
    environment: {},
    dataDirectory: join(directory, "data"),
    report: (line) => lines.push(line),
    onChange: () => undefined,
    command: [join(directory, "node"), join(directory, "program.js")],
    ...more,
  };
  return { directory, lines, options };
}
type Tap = Pick<typeof t, "teardown">;

async function start(t: Tap, { options }: Given): Promise<ServiceProcess> {
  const running = await runServiceProcess(options);
  t.teardown(() => running.stop(1));
  return running;
}

const kill = (running: ServiceProcess): void => void process.kill(running.address()?.pid ?? 0, "SIGKILL");

await t.test("a process that cannot be started is retried until it can", async (t) => {
  const made = given(t, serves);
  const running = await start(t, made);
  const before = running.address()?.pid;
  rmSync(join(made.directory, "node"));
  kill(running);
  await until("it could not be started", () => made.lines.some((line) => /is gone \(.*ENOENT\)/.test(line)));
  t.equal(running.address(), null);
  symlinkSync(process.execPath, join(made.directory, "node"));
  await until("it runs again", () => running.address());
  t.not(running.address()?.pid, before);
  t.match(made.lines.at(-1), "scanner runs again");
});

await t.test("a process whose log cannot be opened runs without one", async (t) => {
  const made = given(t, serves);
  const running = await start(t, made);
  rmSync(join(made.directory, "data/log"), { recursive: true });
  writeFileSync(join(made.directory, "data/log"), "a file where a folder should be");
  kill(running);
  await until("it runs again", () => made.lines.includes("scanner runs again"));
  t.match(made.lines, [/is gone \(SIGKILL\)/, /runs without a log: .*EEXIST/, "scanner runs again"]);
});

await t.test("a process that is never ready is killed, and the start fails with the reason", async (t) => {
  const { options } = given(t, `console.log("waiting"); ${hangs}`, { readySeconds: 5 });
  const expected = /^scanner did not start \(scanner did not answer within 5 s\): waiting \(.*scanner\.log\)$/;
  await t.rejects(runServiceProcess(options), { name: "StartupError", message: expected });
});

await t.test("a process that hangs at a restart is killed and started again", async (t) => {
  const made = given(t, serves, { readySeconds: 5 });
  const running = await start(t, made);
  writeFileSync(join(made.directory, "program.js"), hangs);
  kill(running);
  await until("it was given up", () => made.lines.some((line) => line.includes("did not answer within 5 s")));
  writeFileSync(join(made.directory, "program.js"), serves);
  await until("it runs again", () => running.address());
});

await t.test("a process that ends at its first start is reported with its last line", async (t) => {
  const { options } = given(t, `console.log("first"); console.log("no configuration"); process.exitCode = 3;`);
  await t.rejects(runServiceProcess(options), { message: /^scanner did not start \(code 3\): no configuration/ });
});

await t.test("stop ends it, also while it cannot be started", async (t) => {
  const made = given(t, serves);
  const running = await runServiceProcess(made.options);
  const pid = running.address()?.pid ?? 0;
  await running.stop(5);
  t.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  t.equal(readFileSync(join(made.directory, "data/log/scanner.log"), "utf8"), "");

  const other = await runServiceProcess(made.options);
  rmSync(join(made.directory, "node"));
  kill(other);
  await until("it could not be started", () => made.lines.some((line) => line.includes("ENOENT")));
  await other.stop(5);
  t.equal(other.address(), null);
});
