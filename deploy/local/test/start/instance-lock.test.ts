import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import t from "tap";
import { startOf } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { takeLock } from "../../src/data/instance-lock.ts";
import { writeRunFile } from "../../src/run-file.ts";

const run = promisify(execFile);

await t.test("a second process is refused with the first one's id and place", (t) => {
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

await t.test("of several concurrent processes one replaces a stale lock", async (t) => {
  const directory = testDirectory(t);
  mkdirSync(join(directory, "run"));
  writeFileSync(join(directory, "run/lock"), JSON.stringify({ pid: 2 ** 22 + 1, started: "1" }));
  const program = `
    import { takeLock } from ${JSON.stringify(join(import.meta.dirname, "../../src/data/instance-lock.ts"))};
    try { takeLock(${JSON.stringify(directory)}); console.log("mine"); } catch (error) { console.log(error.name); }
    process.stdin.resume();`;
  const tries = Array.from({ length: 4 }, () => {
    const child = run(process.execPath, ["--input-type=module", "--eval", program]);
    const said = new Promise<string>((resolve) =>
      child.child.stdout?.once("data", (data) => resolve(String(data).trim())),
    );
    return { child, said };
  });
  // No process ends before all have tried, so that no lock becomes stale meanwhile.
  const answers = await Promise.all(tries.map(({ said }) => said));
  for (const { child } of tries) child.child.stdin?.end();
  await Promise.all(tries.map(({ child }) => child));
  t.same(answers.sort(), ["StartupError", "StartupError", "StartupError", "mine"]);
});

/**
 * Runs a program that has `directory`, `takeLock` and `fs`, whose functions it may replace before
 * `takeLock` uses them.
 */
function start(directory: string, program: string) {
  const source = JSON.stringify(join(import.meta.dirname, "../../src/data/instance-lock.ts"));
  const child = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `
    import fs from "node:fs";
    import { spawn } from "node:child_process";
    import { syncBuiltinESMExports } from "node:module";
    const directory = ${JSON.stringify(directory)};
    const tryIt = async () => {
      syncBuiltinESMExports();
      const { takeLock } = await import(${source});
      try { takeLock(directory); console.log("mine"); } catch (error) { console.log(error.message); }
    };
    ${program}
    process.stdin.resume();`,
  ]);
  return { child, said: text(child.stdout) };
}

await t.test("a process that finds a stale lock does not remove a newer one", async (t) => {
  const directory = testDirectory(t);
  mkdirSync(join(directory, "run"));
  const lock = join(directory, "run/lock");
  writeFileSync(lock, JSON.stringify({ pid: 2 ** 22 + 1, started: "1" }));
  const other = start(directory, `process.stdin.once("data", tryIt);`);
  t.teardown(() => other.child.kill());
  const { child, said } = start(
    directory,
    `
    const { readFileSync } = fs;
    fs.readFileSync = (path, ...rest) => {
      const found = readFileSync(path, ...rest);
      if (path !== ${JSON.stringify(lock)}) return found;
      fs.readFileSync = readFileSync;
      syncBuiltinESMExports();
      // After its check another process takes the lock, before it acts.
      fs.writeSync(1, "looked ");
      while (readFileSync(path, "utf8") === found) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      return found;
    };
    await tryIt();`,
  );
  t.teardown(() => child.kill());
  await once(child.stdout, "readable");
  other.child.stdin.write("go");
  child.stdin.end();
  t.match(await said, `looked already running: process ${String(other.child.pid)} uses`);
  other.child.stdin.end();
  t.equal(await other.said, "mine\n");
});

await t.test("a process that was killed during the replacement does not block others", async (t) => {
  const directory = testDirectory(t);
  mkdirSync(join(directory, "run"));
  const stale = JSON.stringify({ pid: 2 ** 22 + 1, started: "1" });
  writeFileSync(join(directory, "run/lock"), stale);
  const { child } = start(directory, `fs.renameSync = () => process.kill(process.pid, "SIGKILL"); await tryIt();`);
  t.same(await once(child, "exit"), [null, "SIGKILL"]);
  t.equal(readFileSync(join(directory, "run/lock"), "utf8"), stale, "it was in the middle of it");
  takeLock(directory)();
  t.notOk(existsSync(join(directory, "run/lock")));
});
