import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { variables } from "@coffer/env";
import { testDirectory } from "@coffer/testkit";
import { checkout } from "../../src/checkout.ts";
import { npmStart } from "../npm-start.ts";

await t.test("--help prints every variable, and starts nothing", async (t) => {
  const help = npmStart(t, { directory: testDirectory(t), args: ["--help"] });
  t.equal(await help.exited, 0);
  for (const { name, internal } of Object.values(variables)) {
    t.equal(help.stdout().includes(name), !internal, name);
  }
  t.equal(help.stderr(), "");
  // The launcher prints this before an installation.
  const written = readFileSync(join(checkout, "deploy/local/help.txt"), "utf8");
  t.equal(written, help.stdout(), "npm start --silent -- --help > deploy/local/help.txt writes it");
});

await t.test("an unknown argument is named", async (t) => {
  const wrong = npmStart(t, { directory: testDirectory(t), args: ["--rest"] });
  t.equal(await wrong.exited, 1);
  t.equal(wrong.stderr(), 'coffer: no argument "--rest": --help, --reset, --yes\n');
});
