import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtInRules } from "@coffer/scan";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { seededRandom } from "../../../scan/src/examples/random.ts";
import { coffer } from "../command.ts";

// A file with more secrets than a call has arguments, and a thread that has not enough memory for it.

const count = 150_000;
const random = seededRandom(1);
const rule = builtInRules.find(({ id }) => id === "github-personal-token");
const token = (): string => rule?.examples.positive(random)[0] ?? "";

const home = testDirectory(t);
mkdirSync(join(home, "tree"));
for (let index = 0; index < 600; index += 1)
  writeFileSync(join(home, "tree", `${String(index).padStart(4, "0")}.txt`), "line\n".repeat(200));
writeFileSync(join(home, "tree", "0100.txt"), Array.from({ length: count }, token).join("\n"));
writeFileSync(join(home, "tree", "0500.txt"), token());
const args = ["scan", "tree", "--format", "csv", "--threads", "2"];

await t.test("each secret of a file is reported, however many they are", async (t) => {
  const { code, stdout, stderr } = await coffer(home, args);
  t.equal(code, 1);
  t.match(stderr, new RegExp(`${count + 1} secrets in 600 inputs`));
  t.equal(stdout.trimEnd().split("\n").length, count + 2, "with the heading");
});

await t.test("what a thread had not done when its memory ended is named, and the others go on", async (t) => {
  const { code, stdout, stderr } = await coffer(home, args, { node: ["--max-old-space-size=40"] });
  t.equal(code, 3);
  t.match(stderr, /tree\/0100\.txt cannot be scanned: .*memory/);
  t.match(stdout, /^tree\/0500\.txt,/m);
});
