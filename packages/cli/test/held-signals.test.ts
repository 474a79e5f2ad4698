import { readdirSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { outcomeOf, start } from "./command.ts";

await t.test("a template that is being filled is whole, or not there, when the command is stopped", async (t) => {
  const [home, directory] = [testDirectory(t), testDirectory(t)];
  writeFileSync(join(home, "template"), "x".repeat(30_000_000));
  const out = join(directory, "filled");
  const child = start(home, ["inject", "-i", join(home, "template"), "-o", out]);
  const ended = outcomeOf(child);
  const watcher = watch(directory, (_event, name) => {
    if (name?.endsWith(".tmp") === true) child.kill("SIGTERM");
  });
  t.match(await ended, { signal: "SIGTERM", stderr: `wrote ${out}` });
  watcher.close();
  t.same(readdirSync(directory), ["filled"]);
});
