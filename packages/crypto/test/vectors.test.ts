import { readdir, readFile } from "node:fs/promises";
import t from "tap";
import { checkVectors } from "./vectors/check.ts";
import { checkedElsewhere, vectorDirectory, vectorFiles } from "./vectors/files.ts";

const made = vectorFiles();

void t.test("the published files are exactly those that the script writes", async (t) => {
  const published = (await readdir(vectorDirectory)).filter((name) => name.endsWith(".json"));
  t.strictSame(published.sort(), Object.keys(made).sort());
  for (const [name, text] of Object.entries(made)) {
    t.equal(await readFile(new URL(name, vectorDirectory), "utf8"), text, `${name} is as written`);
  }
});

for (const [name, text] of Object.entries(made)) {
  if (checkedElsewhere.includes(name)) continue;
  void t.test(`the package does what ${name} says`, async (t) => {
    const checked = await checkVectors(name.replace(".json", ""), JSON.parse(text));
    t.ok(checked.length > 3, `${checked.length} vectors`);
    for (const { name: vector, problem } of checked) t.equal(problem, null, vector);
  });
}
