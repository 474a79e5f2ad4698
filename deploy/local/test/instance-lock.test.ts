import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { startOf } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { takeLock } from "../src/instance-lock.ts";
import { writeRunFile } from "../src/run-file.ts";

const run = promisify(execFile);

await t.test("who comes second is told which process runs, and where", (t) => {
  const directory = testDirectory(t);
  const release = takeLock(directory);
  t.throws(() => takeLock(directory), { message: `already running: process ${process.pid} uses ${directory}` });
  const stores = { postgres: "", nats: "", redis: "" };
  const url = "http://127.0.0.1:1";
  writeRunFile(directory, { url, management_url: "", pid: process.pid, services: {}, stores, store_pids: {} });
  t.throws(() => takeLock(directory), {
    message: `already running: process ${process.pid} at http://127.0.0.1:1 uses ${directory}`,
  });
  release();
  t.doesNotThrow(() => takeLock(directory)());
  t.end();
});

const stale: Record<string, string> = {
  "of a process that is gone": JSON.stringify({ pid: 2 ** 22 + 1, started: "1" }),
  "of an earlier process with the id of one that lives": JSON.stringify({ pid: process.pid, started: "1" }),
  "that was cut off": '{"pid":',
};
for (const [what, content] of Object.entries(stale)) {
  await t.test(`a lock ${what} is taken over`, (t) => {
    const directory = testDirectory(t);
    mkdirSync(join(directory, "run"));
    writeFileSync(join(directory, "run/lock"), content);
    const release = takeLock(directory);
    t.same(JSON.parse(readFileSync(join(directory, "run/lock"), "utf8")), {
      pid: process.pid,
      started: startOf(process.pid),
    });
    release();
    t.notOk(existsSync(join(directory, "run/lock")));
    t.end();
  });
}

await t.test("of several who find a stale lock at the same time, one gets it", async (t) => {
  const directory = testDirectory(t);
  mkdirSync(join(directory, "run"));
  writeFileSync(join(directory, "run/lock"), JSON.stringify({ pid: 2 ** 22 + 1, started: "1" }));
  const program = `
    import { takeLock } from ${JSON.stringify(join(import.meta.dirname, "../src/instance-lock.ts"))};
    try { takeLock(${JSON.stringify(directory)}); console.log("mine"); } catch (error) { console.log(error.name); }
    process.stdin.resume();`;
  const tries = Array.from({ length: 4 }, () => {
    const child = run(process.execPath, ["--input-type=module", "--eval", program]);
    const said = new Promise<string>((resolve) =>
      child.child.stdout?.once("data", (data) => resolve(String(data).trim())),
    );
    return { child, said };
  });
  // Nobody ends before everybody has tried, so that no lock becomes stale meanwhile.
  const answers = await Promise.all(tries.map(({ said }) => said));
  for (const { child } of tries) child.child.stdin?.end();
  await Promise.all(tries.map(({ child }) => child));
  t.same(answers.sort(), ["StartupError", "StartupError", "StartupError", "mine"]);
});
