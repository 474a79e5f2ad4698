import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { endServersIn, tiedToThisProcess } from "@coffer/stores";
import { testDirectory, testRootVariable } from "@coffer/testkit";
import t from "tap";
import { readRunFile } from "../../src/run-file.ts";
import { killGroup, living, processesOf, until } from "../npm-start.ts";

// Processes of a test end with it, also without its teardowns.

const [program] = tiedToThisProcess(["npm"], "SIGTERM");
const untied = program === "npm" ? "only Linux ends a process with another one" : false;

for (const [how, end, skip] of [
  ["bails out", "bails", false],
  ["is killed", "SIGKILL", untied],
] as const) {
  await t.test(`of a test that ${how} no npm start is left`, { skip, timeout: 180_000 }, async (t) => {
    const directory = testDirectory(t);
    // The test cannot remove its files any more.
    const itsOwn = testDirectory(t);
    const file = join(import.meta.dirname, "../never-ending.ts");
    const test = spawn(process.execPath, [file, directory, end], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, TAP_BAIL: "1", [testRootVariable]: itsOwn },
    });
    const exited = once(test, "exit");
    let said = "";
    test.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("\n") || test.exitCode !== null);
    const group = Number(said);
    t.teardown(async () => {
      if (group > 0) killGroup(group);
      await endServersIn(directory);
    });
    t.ok(group > 0, said);
    const state = readRunFile(directory);
    const all = [group, ...(state === null ? [] : processesOf(state))];
    if (end === "SIGKILL") test.kill(end);
    await exited;
    await until(() => living(all).length === 0);
    t.pass(`${all.length} processes are gone`);
  });
}
