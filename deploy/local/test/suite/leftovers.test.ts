import { spawn } from "node:child_process";
import { once } from "node:events";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { leftovers } from "../../src/suite/leftovers.ts";

const linux = process.platform === "linux" ? false : "processes show their environment on Linux only";

await t.test("a process that a test left behind is found with its command", { skip: linux }, async (t) => {
  const directory = testDirectory(t);
  const child = spawn("sleep", ["60"], { env: { ...process.env, SOME_RUN: directory }, stdio: "ignore" });
  await once(child, "spawn");
  t.same(await leftovers("SOME_RUN", directory, 500), [{ pid: child.pid, command: "sleep 60" }]);
  child.kill("SIGKILL");
  await once(child, "exit");
  t.same(await leftovers("SOME_RUN", directory), []);
});

await t.test("a process of another run is none of ours", { skip: linux }, async (t) => {
  const directory = testDirectory(t);
  const child = spawn("sleep", ["60"], { env: { ...process.env, SOME_RUN: `${directory}-other` }, stdio: "ignore" });
  await once(child, "spawn");
  t.same(await leftovers("SOME_RUN", directory), []);
  child.kill("SIGKILL");
  await once(child, "exit");
});
