import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { coffer, stoppedWhileWriting } from "../command.ts";

await t.test("a template that is being filled is whole, or not there, when the command is stopped", async (t) => {
  const [home, directory] = [testDirectory(t), testDirectory(t)];
  writeFileSync(join(home, "template"), "nothing to fill");
  const out = join(directory, "filled");
  const args = ["inject", "-i", join(home, "template"), "-o", out];
  t.match(await coffer(home, args, stoppedWhileWriting("SIGTERM", out)), { signal: "SIGTERM", stderr: `wrote ${out}` });
  t.same(readdirSync(directory), ["filled"]);
});
